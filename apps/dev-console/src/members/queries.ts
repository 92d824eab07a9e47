import type { WorkspaceMember } from '@review/contract';
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client } from '../api.ts';

export const membersQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['members', projectId],
    queryFn: async () => (await client.members.list({ params: { id: projectId } })).data,
  });

export const workspaceMembersQuery = queryOptions({
  queryKey: ['workspace-members'],
  queryFn: async () => (await client.members.listWorkspace()).data,
});

const names = new Intl.Collator();
const byName = (members: WorkspaceMember[]) =>
  members.map(({ user }) => user).sort((a, b) => names.compare(a.name, b.name));

export const peopleByNameQuery = queryOptions({ ...workspaceMembersQuery, select: byName });

/** People whom the caller may see, best first. The address is known only if it contains the keyword. */
export const peopleSearchQuery = (keyword: string) =>
  infiniteQueryOptions({
    queryKey: ['workspace-members', 'search', keyword],
    queryFn: ({ pageParam, signal }) =>
      client.search.find(
        { body: { keyword, types: ['PERSON'], ...(pageParam !== '' && { next: pageParam }) } },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ page }) => page.next,
    select: ({ pages }) =>
      pages.flatMap(({ data }) =>
        data.map(({ id, title, excerpt }) => ({ id, name: title, avatarUrl: null, address: excerpt })),
      ),
    enabled: keyword !== '',
    placeholderData: keepPreviousData,
  });
