import { ApiProblem, type UploadState, upload } from '@review/client';
import { FileId, FolderId, Uuid } from '@review/contract';
import { useSyncExternalStore } from 'react';
import { z } from 'zod';
import { client } from '../api.ts';
import { invalidate } from '../api-mutation.ts';
import { savedKey } from '../saved-key.ts';

/** The stored state of an upload. It lets the upload resume after a reload, once the user selects its file again. */
const StoredUpload = z.object({
  name: z.string(),
  lastModified: z.number(),
  projectId: Uuid,
  folderId: FolderId.nullable(),
  state: z.object({
    key: z.string(),
    id: FileId.nullable(),
    size: z.number(),
    parts: z.array(z.object({ partNumber: z.number(), eTag: z.string() })),
  }),
});

export interface Upload {
  name: string;
  lastModified: number;
  projectId: string;
  folderId: string | null;
  size: number;
  sent: number;
  /** `LOST`: the page was reloaded, so the user has to select the file again. */
  status: 'SENDING' | 'PAUSED' | 'LOST' | 'FAILED';
  error: Error | null;
  /** Why the file selected for resuming is not the right one. */
  mistake: string | null;
  state: UploadState;
  source: File | null;
}

const FRESH = { sent: 0, error: null, mistake: null } as const;
const STORE = 'uploads';
const listeners = new Set<() => void>();
const running = new Map<string, AbortController>();
let uploads: readonly Upload[] = restoreUploads();
let owner = savedKey();

/** The unfinished uploads of all projects. They continue across page navigation. */
export const useUploads = (): readonly Upload[] =>
  useSyncExternalStore(
    (listener) => {
      discardForeignUploads();
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => uploads,
  );

export function startUploads(sources: readonly File[], to: { projectId: string; folderId: string | null }): void {
  discardForeignUploads();
  for (const source of sources) {
    const key = crypto.getRandomValues(new Uint32Array(4)).join('-');
    const state: UploadState = { key, id: null, size: source.size, parts: [] };
    const { name, size, lastModified } = source;
    setUploads([...uploads, { ...FRESH, ...to, name, size, lastModified, status: 'PAUSED', state, source }]);
    void send(key);
  }
}

export const pauseUpload = (key: string): void => running.get(key)?.abort();

/** Resumes an upload. After a reload it needs `chosen`, which must be the same file. */
export function resumeUpload(key: string, chosen?: File): void {
  const found = uploads.find(({ state }) => state.key === key);
  if (found === undefined) return;
  const source = chosen ?? found.source;
  if (source === null) return;
  if (source.name !== found.name || source.size !== found.size) {
    updateUpload(key, { mistake: `That is not the same file. Choose ${found.name} with ${found.size} bytes.` });
  } else {
    updateUpload(key, { source });
    void send(key);
  }
}

export async function abortUpload(key: string): Promise<void> {
  pauseUpload(key);
  const found = uploads.find(({ state }) => state.key === key);
  setUploads(uploads.filter(({ state }) => state.key !== key));
  if (found?.state.id != null) {
    // Fails if the upload has ended meanwhile; the refreshed list shows that.
    await client.files.cancel({ params: { id: found.state.id } }).catch(() => {});
    await invalidate([['files']]);
  }
}

async function send(key: string): Promise<void> {
  const found = uploads.find(({ state }) => state.key === key);
  if (found?.source == null || running.has(key)) return;
  const { source, projectId, folderId, name, state } = found;
  const controller = new AbortController();
  running.set(key, controller);
  updateUpload(key, { status: 'SENDING', error: null, mistake: null });
  try {
    await upload(client, {
      to: { project: projectId },
      source,
      name,
      folder: folderId === null ? null : { id: folderId },
      resume: state,
      signal: controller.signal,
      onProgress: (sent) => updateUpload(key, { sent }),
      onState: (next) => updateUpload(key, { state: next }),
    });
    setUploads(uploads.filter((each) => each.state.key !== key));
  } catch (caught) {
    const error = caught instanceof Error ? caught : new Error(String(caught));
    if (controller.signal.aborted) updateUpload(key, { status: 'PAUSED' });
    else updateUpload(key, { status: 'FAILED', error });
    if (error instanceof ApiProblem && error.status === 404)
      updateUpload(key, { state: { ...state, id: null, parts: [] } });
  } finally {
    running.delete(key);
    await invalidate([['files']]);
  }
}

/** Aborts and discards the uploads of the previous key after another key signed in. */
function discardForeignUploads(): void {
  if (owner === savedKey()) return;
  for (const controller of running.values()) controller.abort();
  owner = savedKey();
  uploads = [];
}

function updateUpload(key: string, difference: Partial<Upload>): void {
  setUploads(uploads.map((each) => (each.state.key === key ? { ...each, ...difference } : each)));
}

function setUploads(next: readonly Upload[]): void {
  // A part may finish after the user has signed out.
  if (owner !== savedKey()) {
    discardForeignUploads();
    return;
  }
  uploads = next;
  sessionStorage.setItem(STORE, JSON.stringify(uploads));
  for (const listener of listeners) listener();
}

function restoreUploads(): Upload[] {
  return readStoredUploads().map((each) => {
    const { size } = each.state;
    return { ...FRESH, ...each, size, status: 'LOST', source: null };
  });
}

function readStoredUploads() {
  try {
    return z.array(StoredUpload).parse(JSON.parse(sessionStorage.getItem(STORE) ?? '[]'));
  } catch {
    // Unreadable state only means that these uploads cannot resume.
    return [];
  }
}
