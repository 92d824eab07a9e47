import { contract, type FileRecord, type FileStatus } from '@review/contract';
import { infiniteQueryOptions, queryOptions, useQuery } from '@tanstack/react-query';
import { client, queryClient } from '../api.ts';
import { useLive } from '../live/use-live.ts';
import { mayCall } from '../session/access.ts';

const POLL_INTERVAL_MS = 2000;
const WAIT_SECONDS = 30;

export const isOpen = ({ status }: Pick<FileRecord, 'status'>): boolean =>
  status === 'GENERATING' || status === 'UPLOADING';

/** Whether the file changes without a user: its content is not complete, or its media is not. */
export const isChanging = (file: Pick<FileRecord, 'status' | 'media'>): boolean =>
  isOpen(file) || file.media?.status === 'PENDING';

export const fileQuery = (id: string) =>
  queryOptions({
    queryKey: ['files', id],
    queryFn: async ({ signal }) => (await client.files.get({ params: { id } }, { signal })).data,
  });

/**
 * A file, kept current. Without its events it polls the progress, and long-polls for the final status. A page with several files
 * must not `wait`: a browser has six connections to a host.
 */
export function useLiveFile(id: string, enabled: boolean, wait = true) {
  const isLive = useLive(queryClient.getQueryData(fileQuery(id).queryKey)?.project.id);
  const file = useQuery({
    ...fileQuery(id),
    enabled,
    refetchInterval: ({ state }) =>
      !isLive && state.data !== undefined && isChanging(state.data) ? POLL_INTERVAL_MS : false,
  });
  useQuery({
    // Not under `files`: to be current, a page would wait for its end.
    queryKey: ['end of file', id],
    enabled: wait && !isLive && file.data?.status === 'GENERATING',
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
    // Not under `files`: a new URL would start a video from its beginning.
    queryKey: ['download', id],
    queryFn: async ({ signal }) => (await client.files.download({ params: { id } }, { signal })).data,
    staleTime: 5 * 60_000,
  });

/** Loads what the page of a file shows first, unless it is known. The page asks again for what is missing, and shows the error. */
export async function loadFile(id: string): Promise<void> {
  const { status } = await queryClient.ensureQueryData(fileQuery(id));
  if (status === 'UPLOADED' && mayCall(contract.files.download)) await queryClient.ensureQueryData(downloadQuery(id));
}

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
