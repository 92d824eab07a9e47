import type { FileStatus } from '@review/contract';
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

export const versionQuery = (id: string) =>
  queryOptions({
    queryKey: ['versions', id],
    queryFn: async () => (await client.versions.get({ params: { id } })).data,
  });

/** The files of a project to choose from, newest first, page by page. */
export const projectFilesQuery = (projectId: string, status?: FileStatus) =>
  infiniteQueryOptions({
    queryKey: ['files', 'all', projectId, { status }],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => {
      const body = { ...(status !== undefined && { status }), ...(pageParam !== '' && { next: pageParam }) };
      return client.files.list({ params: { id: projectId }, body }, { signal });
    },
    getNextPageParam: ({ page }) => page.next,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
  });
