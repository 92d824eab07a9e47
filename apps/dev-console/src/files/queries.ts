import type { FileRecord, FileStatus } from '@review/contract';
import { infiniteQueryOptions, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from '../api.ts';

const POLL_INTERVAL_MS = 2000;
const WAIT_SECONDS = 30;

export const isOpen = ({ status }: Pick<FileRecord, 'status'>): boolean =>
  status === 'GENERATING' || status === 'UPLOADING';

export const fileQuery = (id: string) =>
  queryOptions({
    queryKey: ['files', id],
    queryFn: async ({ signal }) => (await client.files.get({ params: { id } }, { signal })).data,
  });

/** A file, kept current: polls the progress, and long-polls for the final status. */
export function useLiveFile(id: string, enabled: boolean) {
  const queryClient = useQueryClient();
  const file = useQuery({
    ...fileQuery(id),
    enabled,
    refetchInterval: ({ state }) => (state.data !== undefined && isOpen(state.data) ? POLL_INTERVAL_MS : false),
  });
  useQuery({
    queryKey: ['files', id, 'end'],
    enabled: file.data?.status === 'GENERATING',
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const { data } = await client.files.get({ params: { id }, query: { wait: WAIT_SECONDS } }, { signal });
      queryClient.setQueryData(fileQuery(id).queryKey, data);
      return data;
    },
    refetchInterval: ({ state }) => (state.data?.status === 'GENERATING' ? 1 : false),
  });
  return file;
}

/** A presigned URL of the content. The stale time is far below its expiry. */
export const downloadQuery = (id: string) =>
  queryOptions({
    queryKey: ['files', id, 'download'],
    queryFn: async ({ signal }) => (await client.files.download({ params: { id } }, { signal })).data,
    staleTime: 5 * 60_000,
  });

/** The files of a project, newest first, page by page. */
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
