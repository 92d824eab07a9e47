import type { FileDetails, FileRecord } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { proxyOf, useSteadyUrl } from '../media/renditions.ts';
import { downloadQuery, fileQuery } from '../queries.ts';

export interface Side {
  name: 'Left' | 'Right';
  id: string;
  file: FileDetails | undefined;
  /** Of the proxy for a video that has one, else of the original. */
  url: string | undefined;
  error: Error | null;
  /** The files to choose from. */
  offered: readonly FileRecord[];
  choose: (id: string) => void;
}

export function useSide(name: Side['name'], id: string, offered: readonly FileRecord[], choose: Side['choose']): Side {
  const file = useQuery(fileQuery(id));
  const download = useQuery({ ...downloadQuery(id), enabled: file.data?.status === 'UPLOADED' });
  const proxy = useSteadyUrl(file.data && proxyOf(file.data)?.url);
  return {
    name,
    id,
    file: file.data,
    url: proxy ?? download.data?.url,
    error: file.error ?? download.error,
    offered,
    choose,
  };
}
