import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { client } from '../api.ts';

export const versionsQuery = (projectId: string, { page, byName }: { page: number; byName: boolean }) =>
  queryOptions({
    queryKey: ['versions', 'of', projectId, { page, byName }],
    queryFn: () =>
      client.versions.list({
        params: { id: projectId },
        query: { page, ...(byName && { 'sort.type': 'name', 'sort.direction': 'asc' }) },
      }),
  });

/** What needs a review in all projects of the caller. It polls: events come from one project at a time. */
export const reviewQuery = infiniteQueryOptions({
  queryKey: ['versions', 'to review'],
  initialPageParam: '',
  queryFn: ({ pageParam, signal }) =>
    client.versions.listMine({ body: pageParam === '' ? {} : { next: pageParam } }, { signal }),
  getNextPageParam: ({ page }) => page.next,
  select: ({ pages }) => pages.flatMap(({ data }) => data),
  refetchInterval: 15_000,
});

export const versionQuery = (id: string) =>
  queryOptions({
    queryKey: ['versions', id],
    queryFn: async () => (await client.versions.get({ params: { id } })).data,
  });
