import type { FileRecord, FileStatus, Generation, OutputType } from '@review/contract';
import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { client } from '../api.ts';
import { isChanging } from '../files/queries.ts';
import { usePollInterval } from '../live/use-live.ts';

interface RunFilters {
  type?: OutputType | undefined;
  status?: FileStatus | undefined;
}

/** A generated file with its generation record. */
export type Run = FileRecord & { generation: Generation };
export const isRun = <File extends FileRecord>(file: File): file is File & Run => file.generation !== null;

const POLL_INTERVAL_MS = 2000;

/** The generations of a project, newest first. */
const runsQuery = (project: string, { type, status }: RunFilters) =>
  infiniteQueryOptions({
    queryKey: ['runs', project, { type, status }],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) => {
      const filters = { ...(type && { outputType: type }), ...(status && { status }) };
      const body = { ...filters, ...(pageParam !== '' && { next: pageParam }) };
      return client.files.list({ params: { id: project }, body }, { signal });
    },
    getNextPageParam: ({ page }) => page.next,
    select: ({ pages }) => pages.flatMap(({ data }) => data).filter(isRun),
  });

/** The generations of a project, kept current. Without events it polls while one of them is not done. */
export function useRuns(project: string, filters: RunFilters) {
  const interval = usePollInterval(project, POLL_INTERVAL_MS);
  return useInfiniteQuery({
    ...runsQuery(project, filters),
    refetchInterval: ({ state }) => (state.data?.pages.some(({ data }) => data.some(isChanging)) ? interval : false),
  });
}
