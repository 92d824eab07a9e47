import type { EventOf, FileRecord } from '@review/contract';
import type { InfiniteData } from '@tanstack/react-query';
import { queryClient } from '../api.ts';

type Lists = InfiniteData<{ data: FileRecord[] }>;

/** Writes the progress of a generation into the files that are shown: it changes too often to fetch them again. */
export function patchProgress({ project, subject, data }: EventOf<'file.generation.progressed'>): void {
  const patched = (file: FileRecord): FileRecord =>
    file.id === subject.id && file.generation !== null
      ? { ...file, generation: { ...file.generation, progress: data.progress } }
      : file;
  // Data that is not shown stays stale: a patch would count as fresh data.
  const file = { queryKey: ['files', subject.id], exact: true, type: 'active' } as const;
  queryClient.setQueriesData<FileRecord>(file, (shown) => shown && patched(shown));
  for (const queryKey of [
    ['files', 'of', project.id],
    ['runs', project.id],
  ]) {
    queryClient.setQueriesData<Lists>(
      { queryKey, type: 'active' },
      (lists) => lists && { ...lists, pages: lists.pages.map((page) => ({ ...page, data: page.data.map(patched) })) },
    );
  }
}
