import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { client } from '../api.ts';

export const skillsQuery = infiniteQueryOptions({
  queryKey: ['skills'],
  initialPageParam: '',
  queryFn: ({ pageParam, signal }) =>
    client.skills.list({ body: { ...(pageParam !== '' && { next: pageParam }) } }, { signal }),
  getNextPageParam: ({ page }) => page.next,
  select: ({ pages }) => pages.flatMap(({ data }) => data),
});

export const skillQuery = (id: string) =>
  queryOptions({
    queryKey: ['skills', id],
    queryFn: async () => (await client.skills.get({ params: { id } })).data,
  });

export const skillVersionQuery = (id: string) =>
  queryOptions({
    queryKey: ['skill-versions', id],
    queryFn: async () => (await client.skills.getVersion({ params: { id } })).data,
    // Published versions are immutable.
    staleTime: Number.POSITIVE_INFINITY,
  });
