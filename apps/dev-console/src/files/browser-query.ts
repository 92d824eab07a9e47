import type { ReviewStatus } from '@review/contract';
import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { client } from '../api.ts';
import { usePollInterval } from '../live/use-live.ts';
import { type FileOrder, sortOf } from './order.ts';
import { isChanging } from './queries.ts';

const POLL_INTERVAL_MS = 3000;

interface FileFilters {
  /** Null is the root. Ignored with a keyword or a tag, which search all folders. */
  folderId: string | null;
  keyword: string;
  tag: ReviewStatus | undefined;
  order: FileOrder | undefined;
}

/** The files of a folder. */
const folderFilesQuery = (projectId: string, { folderId, keyword, tag, order }: FileFilters) => {
  const everywhere = keyword !== '' || tag !== undefined;
  return infiniteQueryOptions({
    queryKey: ['files', 'of', projectId, { folderId, keyword, tag, order }],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      client.files.list(
        {
          params: { id: projectId },
          body: {
            ...(keyword !== '' && { keyword }),
            ...(tag !== undefined && { tag }),
            ...(order !== undefined && { sort: sortOf(order) }),
            ...(!everywhere && { folder: folderId === null ? null : { id: folderId } }),
            ...(pageParam !== '' && { next: pageParam }),
          },
        },
        { signal },
      ),
    getNextPageParam: ({ page }) => page.next,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
  });
};

/** The files of a folder, kept current. Without events it polls while one of them is not done. */
export function useFolderFiles(projectId: string, filters: FileFilters, enabled: boolean) {
  const interval = usePollInterval(projectId, POLL_INTERVAL_MS);
  return useInfiniteQuery({
    ...folderFilesQuery(projectId, filters),
    enabled,
    refetchInterval: ({ state }) => (state.data?.pages.some(({ data }) => data.some(isChanging)) ? interval : false),
  });
}
