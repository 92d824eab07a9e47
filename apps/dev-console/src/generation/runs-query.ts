import type { FileRecord, FileStatus, Generation, OutputType } from '@review/contract';
import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query';
import { client } from '../api.ts';
import { isOpen } from '../files/queries.ts';

interface RunFilters {
  type?: OutputType | undefined;
  status?: FileStatus | undefined;
}

/** A generated file with its generation record. */
export type Run = FileRecord & { generation: Generation };
export const isRun = (file: FileRecord): file is Run => file.generation !== null;

const POLL_INTERVAL_MS = 2000;

/** The generations of a project, newest first; polled while one of them is not done. */
export const runsQuery = (project: string, { type, status }: RunFilters) =>
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
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some(isOpen)) ? POLL_INTERVAL_MS : false,
  });
