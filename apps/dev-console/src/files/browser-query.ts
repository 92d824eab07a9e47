import type { ReviewStatus } from '@review/contract';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { client } from '../api.ts';
import { isOpen } from './queries.ts';

const POLL_INTERVAL_MS = 3000;

interface FileFilters {
  /** Null is the root. Ignored with a keyword or a tag, which search all folders. */
  folderId: string | null;
  keyword: string;
  tag: ReviewStatus | undefined;
}

/** The files of a folder, newest first; polled while one of them is not done. */
export const folderFilesQuery = (projectId: string, { folderId, keyword, tag }: FileFilters) => {
  const everywhere = keyword !== '' || tag !== undefined;
  return infiniteQueryOptions({
    queryKey: ['files', 'of', projectId, { folderId, keyword, tag }],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      client.files.list(
        {
          params: { id: projectId },
          body: {
            ...(keyword !== '' && { keyword }),
            ...(tag !== undefined && { tag }),
            ...(!everywhere && { folder: folderId === null ? null : { id: folderId } }),
            ...(pageParam !== '' && { next: pageParam }),
          },
        },
        { signal },
      ),
    getNextPageParam: ({ page }) => page.next,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some(isOpen)) ? POLL_INTERVAL_MS : false,
  });
};
