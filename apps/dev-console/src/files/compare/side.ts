import type { FileDetails, FileRecord } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { downloadQuery, fileQuery } from '../queries.ts';
import { earlierVersions } from './earlier.ts';

export interface Side {
  name: 'Left' | 'Right';
  id: string;
  file: FileDetails | undefined;
  /** Of the original. */
  url: string | undefined;
  error: Error | null;
  /** The files to choose from. */
  offered: readonly FileRecord[];
  /** Those of them that are earlier versions of the file on the other side. */
  earlier: readonly FileRecord[];
  choose: (id: string) => void;
}

export function useSide({
  name,
  id,
  other,
  offered,
  choose,
}: Pick<Side, 'name' | 'id' | 'offered' | 'choose'> & { other: string }): Side {
  const file = useQuery(fileQuery(id));
  const download = useQuery({ ...downloadQuery(id), enabled: file.data?.status === 'UPLOADED' });
  const opposite = useQuery(fileQuery(other)).data;
  return {
    name,
    id,
    file: file.data,
    url: download.data?.url,
    error: file.error ?? download.error,
    offered,
    earlier: opposite === undefined ? [] : earlierVersions(opposite, offered),
    choose,
  };
}
