import type { CommentRecord } from '@review/contract';
import type { House, PersonName } from '../../../test/house.ts';
import { newFile, newProject, say, sayMany, timeOf } from './talk.ts';

export interface Page {
  data: CommentRecord[];
  page: { next: string | null; prev: string | null };
}

export interface Asked {
  sort?: { type?: 'createdAt'; direction?: 'asc' | 'desc' };
  resolved?: boolean;
  next?: string;
  prev?: string;
}

/** One of the three lists of comments, with a function that fills it. */
export interface List {
  /** The value of `:id` and the path. */
  path: string;
  ask(asked?: Asked, as?: PersonName): Promise<Page>;
  /** The ids in the order of the list. */
  add(count: number, at?: (index: number) => string): Promise<string[]>;
}

export const KINDS = ['project', 'file', 'replies'] as const;
export type Kind = (typeof KINDS)[number];

export async function newList(house: House, kind: Kind): Promise<List> {
  const { people } = house;
  const projectId = await newProject(house);
  const add = (about: { fileId?: string; parentId?: string }) => (count: number, at?: (index: number) => string) =>
    sayMany(house, count, { projectId, ...about, at: at ?? timeOf });
  if (kind === 'file') {
    const fileId = await newFile(house, { projectId, allowRestricted: true });
    return {
      path: `/api/files/${fileId}/comments`,
      ask: (body = {}, as = 'owner') => people[as].client.comments.listOnFile({ params: { id: fileId }, body }),
      add: add({ fileId }),
    };
  }
  if (kind === 'project') {
    return {
      path: `/api/projects/${projectId}/comments`,
      ask: (body = {}, as = 'owner') => people[as].client.comments.list({ params: { id: projectId }, body }),
      add: add({}),
    };
  }
  const parentId = await say(house, { projectId });
  return {
    path: `/api/comments/${parentId}/replies`,
    ask: (body = {}, as = 'owner') => people[as].client.comments.listReplies({ params: { id: parentId }, body }),
    add: add({ parentId }),
  };
}

export const idsOf = ({ data }: Page): string[] => data.map(({ id }) => id);

/** Follows one kind of cursor to the end; returns all pages, starting with the given one. */
export async function walk(
  first: Page,
  way: 'next' | 'prev',
  turn: (cursor: { next: string } | { prev: string }) => Promise<Page>,
): Promise<Page[]> {
  const pages = [first];
  for (let cursor = first.page[way]; cursor !== null; ) {
    const page = await turn(way === 'next' ? { next: cursor } : { prev: cursor });
    pages.push(page);
    cursor = page.page[way];
  }
  return pages;
}
