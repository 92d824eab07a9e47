import { queryOptions } from '@tanstack/react-query';
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
