import type { Folder } from '@review/contract';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../api.ts';

export const foldersQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['folders', projectId],
    queryFn: async () => (await client.folders.list({ params: { id: projectId } })).data,
  });

export const foldersIn = (folders: readonly Folder[], parentId: string | null): Folder[] =>
  folders
    .filter(({ parent }) => (parent?.id ?? null) === parentId)
    .toSorted((one, other) => one.name.localeCompare(other.name));

/** The ancestors from the root down, and the folder itself; empty for the root and for a deleted folder. */
export function pathTo(folders: readonly Folder[], id: string | null): Folder[] {
  const path: Folder[] = [];
  for (let at = id; at !== null && path.length <= folders.length; ) {
    const folder = folders.find((each) => each.id === at);
    if (folder === undefined) break;
    path.unshift(folder);
    at = folder.parent?.id ?? null;
  }
  return path;
}
