import type { FileRecord, FileStatus } from '@review/contract';
import { infiniteQueryOptions, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from '../api.ts';

const LOOK_AGAIN_MS = 2000;
const WAIT_SECONDS = 30;

export const isOpen = ({ status }: Pick<FileRecord, 'status'>): boolean =>
  status === 'GENERATING' || status === 'UPLOADING';

export const fileQuery = (id: string) =>
  queryOptions({
    queryKey: ['files', id],
    queryFn: async ({ signal }) => (await client.files.get({ params: { id } }, { signal })).data,
  });

/** A file as it changes: its progress by looking again, its end as soon as the service knows it. */
export function useLiveFile(id: string, enabled: boolean) {
  const queryClient = useQueryClient();
  const file = useQuery({
    ...fileQuery(id),
    enabled,
    refetchInterval: ({ state }) => (state.data !== undefined && isOpen(state.data) ? LOOK_AGAIN_MS : false),
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

/** A signed URL of the content, asked for anew well before it expires. */
export const downloadQuery = (id: string) =>
  queryOptions({
    queryKey: ['files', id, 'download'],
    queryFn: async ({ signal }) => (await client.files.download({ params: { id } }, { signal })).data,
    staleTime: 5 * 60_000,
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
