import type { SearchResult, SearchType } from '@review/contract';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { LinkProps } from '@tanstack/react-router';
import { client } from '../api.ts';
import type { IconName } from '../ui/icon.tsx';

/** What the whole workspace has for a keyword, best first. */
export const searchQuery = (keyword: string) =>
  queryOptions({
    queryKey: ['search', keyword],
    queryFn: async ({ signal }) => (await client.search.find({ body: { keyword } }, { signal })).data,
    enabled: keyword !== '',
    staleTime: 10_000,
    placeholderData: keepPreviousData,
  });

export const RESULT_ICONS: Record<SearchType, IconName> = {
  PROJECT: 'folder',
  FILE: 'film',
  COMMENT: 'comment',
  PERSON: 'people',
  SKILL: 'box',
};

/** The page of a result, or undefined if it has none. */
export function pageOf({ type, id, title, project, file }: SearchResult): LinkProps | undefined {
  if (type === 'PERSON') return { to: '/people', search: { keyword: title, person: id } };
  if (type === 'SKILL') return { to: '/skills/$skillId', params: { skillId: id } };
  if (type === 'FILE') return { to: '/files/$fileId', params: { fileId: id } };
  if (project === null) return undefined;
  const params = { projectId: project.id };
  if (type === 'PROJECT') return { to: '/projects/$projectId', params };
  if (file !== null) return { to: '/files/$fileId', params: { fileId: file.id }, search: { thread: id } };
  return { to: '/projects/$projectId/comments', params };
}

/** Where a result is, and the text that contains the keyword. */
export const detailOf = ({ type, project, file, excerpt }: SearchResult): string =>
  [excerpt, file?.name, type === 'PROJECT' ? null : project?.name].filter(Boolean).join(' · ');
