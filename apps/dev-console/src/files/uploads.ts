import { ApiProblem, type UploadState, upload } from '@review/client';
import { FileId, FolderId, Uuid } from '@review/contract';
import { useSyncExternalStore } from 'react';
import { z } from 'zod';
import { client } from '../api.ts';
import { readAgain } from '../change.ts';
import { savedKey } from '../saved-key.ts';

/** What is kept of an upload, so that it goes on after a reload once its file is chosen again. */
const KeptUpload = z.object({
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
  /** `LOST`: the page was loaded anew, and only who chose the file can give it again. */
  status: 'SENDING' | 'PAUSED' | 'LOST' | 'FAILED';
  error: Error | null;
  /** What is wrong with the file that was chosen to go on. */
  mistake: string | null;
  state: UploadState;
  source: File | null;
}

const FRESH = { sent: 0, error: null, mistake: null } as const;
const STORE = 'uploads';
const listeners = new Set<() => void>();
const running = new Map<string, AbortController>();
let uploads: readonly Upload[] = kept();
let owner = savedKey();

/** The uploads that are not done, of every project: they go on while one looks at other pages. */
export const useUploads = (): readonly Upload[] =>
  useSyncExternalStore(
    (listener) => {
      leaveOthers();
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => uploads,
  );

export function startUploads(sources: readonly File[], to: { projectId: string; folderId: string | null }): void {
  leaveOthers();
  for (const source of sources) {
    const key = crypto.getRandomValues(new Uint32Array(4)).join('-');
    const state: UploadState = { key, id: null, size: source.size, parts: [] };
    const { name, size, lastModified } = source;
    show([...uploads, { ...FRESH, ...to, name, size, lastModified, status: 'PAUSED', state, source }]);
    void send(key);
  }
}

export const pauseUpload = (key: string): void => running.get(key)?.abort();

/** Goes on; an upload from before a reload needs its file again, and no other. */
export function resumeUpload(key: string, chosen?: File): void {
  const found = uploads.find(({ state }) => state.key === key);
  if (found === undefined) return;
  const source = chosen ?? found.source;
  if (source === null) return;
  if (source.name !== found.name || source.size !== found.size) {
    change(key, { mistake: `That is not the same file: choose ${found.name} with ${found.size} bytes again.` });
  } else {
    change(key, { source });
    void send(key);
  }
}

export async function abortUpload(key: string): Promise<void> {
  pauseUpload(key);
  const found = uploads.find(({ state }) => state.key === key);
  show(uploads.filter(({ state }) => state.key !== key));
  if (found?.state.id != null) {
    // It may have ended meanwhile, which the list will show.
    await client.files.cancel({ params: { id: found.state.id } }).catch(() => {});
    await readAgain([['files']]);
  }
}

async function send(key: string): Promise<void> {
  const found = uploads.find(({ state }) => state.key === key);
  if (found?.source == null || running.has(key)) return;
  const { source, projectId, folderId, name, state } = found;
  const controller = new AbortController();
  running.set(key, controller);
  change(key, { status: 'SENDING', error: null, mistake: null });
  try {
    await upload(client, {
      to: { project: projectId },
      source,
      name,
      folder: folderId === null ? null : { id: folderId },
      resume: state,
      signal: controller.signal,
      onProgress: (sent) => change(key, { sent }),
      onState: (next) => change(key, { state: next }),
    });
    show(uploads.filter((each) => each.state.key !== key));
  } catch (caught) {
    const error = caught instanceof Error ? caught : new Error(String(caught));
    if (controller.signal.aborted) change(key, { status: 'PAUSED' });
    else change(key, { status: 'FAILED', error });
    if (error instanceof ApiProblem && error.status === 404) change(key, { state: { ...state, id: null, parts: [] } });
  } finally {
    running.delete(key);
    await readAgain([['files']]);
  }
}

/** Whoever signs in next in this tab has nothing to do with what the one before was sending. */
function leaveOthers(): void {
  if (owner === savedKey()) return;
  for (const controller of running.values()) controller.abort();
  owner = savedKey();
  uploads = [];
}

function change(key: string, difference: Partial<Upload>): void {
  show(uploads.map((each) => (each.state.key === key ? { ...each, ...difference } : each)));
}

function show(next: readonly Upload[]): void {
  // A part may arrive after its sender has signed out.
  if (owner !== savedKey()) {
    leaveOthers();
    return;
  }
  uploads = next;
  sessionStorage.setItem(STORE, JSON.stringify(uploads));
  for (const listener of listeners) listener();
}

function kept(): Upload[] {
  return keptUploads().map((each) => {
    const { size } = each.state;
    return { ...FRESH, ...each, size, status: 'LOST', source: null };
  });
}

function keptUploads() {
  try {
    return z.array(KeptUpload).parse(JSON.parse(sessionStorage.getItem(STORE) ?? '[]'));
  } catch {
    // Written by something else, or half: what is lost is only the way on with an upload.
    return [];
  }
}
