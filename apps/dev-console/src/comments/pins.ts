import { type CommentPin, contract, type FileRecord } from '@review/contract';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { client } from '../api.ts';
import { usePollInterval } from '../live/use-live.ts';
import { useRefusal } from '../session/access.ts';

const NONE: readonly CommentPin[] = [];

const pinsQuery = (fileId: string) =>
  queryOptions({
    queryKey: ['comments', 'pins', fileId],
    queryFn: async ({ signal }) => (await client.comments.listPins({ params: { id: fileId } }, { signal })).data,
  });

/** Where the comments of a file are, kept current; none without the right to read them. */
export function usePins({ id, project }: Pick<FileRecord, 'id' | 'project'>): readonly CommentPin[] {
  const enabled = useRefusal()(contract.comments.listPins) === null;
  const refetchInterval = usePollInterval(project.id, 15_000);
  return useQuery({ ...pinsQuery(id), enabled, refetchInterval }).data ?? NONE;
}
