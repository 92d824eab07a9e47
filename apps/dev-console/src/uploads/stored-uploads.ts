import type { UploadState } from '@review/client';
import { FileId, FolderId, Uuid } from '@review/contract';
import { z } from 'zod';
import { STORE } from './present.ts';

/** The service deletes unfinished uploads after a day. */
const MAX_AGE_MS = 24 * 3_600_000;

/** What lets an upload resume after a reload, once the user selects its file again. */
const StoredUpload = z.object({
  name: z.string(),
  startedAt: z.number(),
  projectId: Uuid,
  folderId: FolderId.nullable(),
  state: z.object({
    key: z.string(),
    id: FileId.nullable(),
    size: z.number(),
    parts: z.array(z.object({ partNumber: z.number(), eTag: z.string() })),
  }),
});
export interface StoredUpload {
  name: string;
  startedAt: number;
  projectId: string;
  folderId: string | null;
  state: UploadState;
}

/** Returns the unfinished uploads of this tab that the service still has. */
export function readStoredUploads(): StoredUpload[] {
  try {
    const all = z.array(StoredUpload).parse(JSON.parse(sessionStorage.getItem(STORE) ?? '[]'));
    return all.filter(({ startedAt }) => Date.now() - startedAt < MAX_AGE_MS);
  } catch {
    // Unreadable state only means that these uploads cannot resume.
    return [];
  }
}

export function storeUploads(uploads: readonly StoredUpload[]): void {
  const stored = uploads.map(({ name, startedAt, projectId, folderId, state }) => ({
    name,
    startedAt,
    projectId,
    folderId,
    state,
  }));
  if (stored.length > 0) sessionStorage.setItem(STORE, JSON.stringify(stored));
  else sessionStorage.removeItem(STORE);
}
