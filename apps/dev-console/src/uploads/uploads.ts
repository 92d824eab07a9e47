import { ApiProblem, type UploadState, upload } from '@review/client';
import { useSyncExternalStore } from 'react';
import { client } from '../api.ts';
import { invalidate } from '../api-mutation.ts';
import { onKeyRemoved, savedKey } from '../saved-key.ts';
import { notePresent } from './present.ts';
import { putWithProgress } from './put-with-progress.ts';
import { Speed } from './speed.ts';
import { readStoredUploads, type StoredUpload, storeUploads } from './stored-uploads.ts';

export interface Upload extends StoredUpload {
  /** Bytes, as they are sent. */
  sent: number;
  /** Bytes per second, or null while unknown. */
  speed: number | null;
  /** `LOST`: the page was reloaded, so the user has to select the file again. */
  status: 'WAITING' | 'SENDING' | 'PAUSED' | 'LOST' | 'FAILED';
  error: Error | null;
  /** Why the file selected for resuming is not the right one. */
  mistake: string | null;
  source: File | null;
}

interface Uploads {
  unfinished: readonly Upload[];
  /** The number of uploads that ended since the list was empty. */
  done: number;
}

const FRESH = { sent: 0, speed: null, error: null, mistake: null } as const;
/** Concurrent uploads; each sends several parts at a time. */
const MAX_SENDING = 3;
const PROGRESS_INTERVAL_MS = 250;

const listeners = new Set<() => void>();
const running = new Map<string, AbortController>();
let uploads: Uploads = {
  unfinished: readStoredUploads().map((stored) => ({ ...FRESH, ...stored, status: 'LOST', source: null })),
  done: 0,
};

/** The uploads of all projects. They continue across page navigation. */
export const useUploads = (): Uploads =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => uploads,
  );

const isActive = ({ status }: Upload) => status === 'SENDING' || status === 'WAITING';
const find = (key: string) => uploads.unfinished.find(({ state }) => state.key === key);

export function startUploads(sources: readonly File[], to: { projectId: string; folderId: string | null }): void {
  const added = sources.map((source): Upload => {
    const key = crypto.getRandomValues(new Uint32Array(4)).join('-');
    const state: UploadState = { key, id: null, size: source.size, parts: [] };
    return { ...FRESH, ...to, name: source.name, startedAt: Date.now(), status: 'WAITING', state, source };
  });
  set({ ...uploads, unfinished: [...uploads.unfinished, ...added] });
  storeUploads(uploads.unfinished);
  notePresent();
  sendNext();
}

export function pauseUpload(key: string): void {
  running.get(key)?.abort();
  if (find(key)?.status === 'WAITING') change(key, { status: 'PAUSED' });
}

/** Resumes an upload. After a reload it needs `chosen`, which must be the same file. */
export function resumeUpload(key: string, chosen?: File): void {
  const found = find(key);
  const source = chosen ?? found?.source;
  if (found === undefined || source == null) return;
  const { size } = found.state;
  if (source.name !== found.name || source.size !== size) {
    change(key, { mistake: `That is not the same file. Choose ${found.name} with ${size} bytes.` });
    return;
  }
  change(key, { source, status: 'WAITING', error: null, mistake: null });
  sendNext();
}

export async function abortUpload(key: string): Promise<void> {
  const found = find(key);
  running.get(key)?.abort();
  remove(key, 0);
  if (found?.state.id != null) await cancel(found.state.id);
}

export const dismissDone = (): void => set({ ...uploads, done: 0 });

/** Fails if the upload has ended meanwhile; the refreshed list shows that. */
async function cancel(id: string): Promise<void> {
  await client.files.cancel({ params: { id } }).catch(() => {});
  await invalidate([['files']]);
}

function sendNext(): void {
  for (const { state, status } of uploads.unfinished) {
    if (running.size >= MAX_SENDING) return;
    if (status === 'WAITING' && !running.has(state.key)) void send(state.key);
  }
}

async function send(key: string): Promise<void> {
  const found = find(key);
  if (found?.source == null) return;
  const { source, projectId, folderId, name, state } = found;
  const controller = new AbortController();
  running.set(key, controller);
  change(key, { status: 'SENDING', speed: null });
  const progress = progressOf(key);
  try {
    await upload(client, {
      to: { project: projectId },
      source,
      name,
      folder: folderId === null ? null : { id: folderId },
      resume: state,
      signal: controller.signal,
      fetch: putWithProgress(progress.noteSent),
      onProgress: progress.noteArrived,
      onState: (next) => {
        const before = find(key)?.state.id;
        change(key, { state: next });
        storeUploads(uploads.unfinished);
        // Another key of the user has started the upload anew.
        if (before != null && next.id !== null && next.id !== before) void cancel(before);
      },
    });
    remove(key, 1);
  } catch (caught) {
    const error = caught instanceof Error ? caught : new Error(String(caught));
    if (controller.signal.aborted) change(key, { status: 'PAUSED' });
    else change(key, { status: 'FAILED', error });
    if (error instanceof ApiProblem && error.status === 404) change(key, { state: { ...state, id: null, parts: [] } });
  } finally {
    running.delete(key);
    sendNext();
  }
  // After signing out there is no key to refetch with.
  if (savedKey() !== null) await invalidate([['files']]);
}

/** Adds the bytes of the requests to those of the parts that had arrived before. */
function progressOf(key: string) {
  const speed = new Speed();
  const sentTo = new Map<string, number>();
  let before: number | undefined;
  let isScheduled = false;
  const show = () => {
    isScheduled = false;
    const sent = [...sentTo.values()].reduce((sum, bytes) => sum + bytes, before ?? 0);
    change(key, { sent, speed: speed.note(sent, performance.now()) });
  };
  const showSoon = () => {
    if (!isScheduled) setTimeout(show, PROGRESS_INTERVAL_MS);
    isScheduled = true;
  };
  return {
    noteSent: (url: string, bytes: number) => {
      sentTo.set(url, bytes);
      showSoon();
    },
    noteArrived: (bytes: number) => {
      before ??= bytes;
      showSoon();
    },
  };
}

function change(key: string, difference: Partial<Upload>): void {
  const unfinished = uploads.unfinished.map((each) => (each.state.key === key ? { ...each, ...difference } : each));
  set({ ...uploads, unfinished });
}

function remove(key: string, done: number): void {
  set({ unfinished: uploads.unfinished.filter(({ state }) => state.key !== key), done: uploads.done + done });
  storeUploads(uploads.unfinished);
}

function set(next: Uploads): void {
  uploads = next;
  for (const listener of listeners) listener();
}

// The bytes are lost with the page: the user would have to select the file again.
window.addEventListener('beforeunload', (event) => {
  if (uploads.unfinished.some(isActive)) event.preventDefault();
});

onKeyRemoved(() => {
  for (const controller of running.values()) controller.abort();
  set({ unfinished: [], done: 0 });
});
