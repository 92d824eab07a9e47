import type { FileRecord } from '@review/contract';
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

/** Every file of a project, to choose from. */
export const projectFilesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['files', 'all', projectId],
    queryFn: async (): Promise<FileRecord[]> => (await client.files.list({ params: { id: projectId } })).data,
  });
