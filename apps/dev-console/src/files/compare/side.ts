import type { FileRecord } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { downloadQuery, fileQuery } from '../queries.ts';

export interface Side {
  name: 'Left' | 'Right';
  id: string;
  file: FileRecord | undefined;
  url: string | undefined;
  error: Error | null;
  /** The files to choose from. */
  offered: readonly FileRecord[];
  choose: (id: string) => void;
}

export function useSide(name: Side['name'], id: string, offered: readonly FileRecord[], choose: Side['choose']): Side {
  const file = useQuery(fileQuery(id));
  const download = useQuery({ ...downloadQuery(id), enabled: file.data?.status === 'UPLOADED' });
  return { name, id, file: file.data, url: download.data?.url, error: file.error ?? download.error, offered, choose };
}
