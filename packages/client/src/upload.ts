import type { UploadedParts, UploadPart } from '@review/contract';
import { newKey, read } from './call.ts';
import type { Client } from './client.ts';
import { ApiProblem } from './problem.ts';
import { limited, persist } from './retry.ts';
import { cut, openSource, type Piece, type Source } from './source.ts';
import { stepsOf, type UploadTarget } from './upload-target.ts';

const RETRIES = 8;
const PARALLEL = 4;
/** The service gives up a part whose bytes stop coming; this ends one that stalls on the way, without cutting off a slow line. */
const PART_TIMEOUT_MS = 300_000;
const MIN_BYTES_PER_SECOND = 8 * 1024;
/** The service puts the parts together before it answers. */
const COMPLETE_TIMEOUT_MS = 120_000;

/** How far an upload has come, as JSON: whoever has it and the same bytes can go on. It holds no secret. */
export interface UploadState {
  /** The Idempotency-Key of the start: asked again with it, the service gives the same upload and fresh addresses. */
  key: string;
  /** Null until the service has answered. */
  id: string | null;
  size: number;
  parts: UploadedParts['parts'];
}

export interface UploadOptions {
  to: UploadTarget;
  /** A path (in Node), a Blob or File, bytes, or a stream, whose `size` must be said. */
  source: Source;
  size?: number;
  /** The name of the file or of the path's last part, unless said. */
  name?: string;
  mimeType?: string;
  /** For files of a project: null is its root. */
  folder?: { id: string } | null;
  /** How many parts are on their way at once: 4 unless said. */
  parallel?: number;
  /** How often a request is tried again: 8 times unless said. */
  retries?: number;
  /** Hears after each part how many bytes have arrived. */
  onProgress?: (sent: number, total: number) => void;
  /** Hears of every change, before anything depends on it: keep the latest to go on after a crash. */
  onState?: (state: UploadState) => void | Promise<void>;
  /** A state that was kept; a stream is given from its beginning again. */
  resume?: UploadState;
  signal?: AbortSignal;
  /** Whether the signal ends the upload on the service too; otherwise it can be resumed for a day. */
  cancelOnAbort?: boolean;
  /** What sends the parts, in place of the global `fetch`. */
  fetch?: typeof fetch;
}

/** Uploads a file or an attachment in parallel parts, each tried again by itself, and answers its id. */
export async function upload(client: Client, options: UploadOptions): Promise<{ id: string }> {
  const { to, resume, signal, retries = RETRIES } = options;
  const { start, complete, cancel } = stepsOf(client, to);
  const { bytes, size, ...found } = await openSource(options.source, options.size);
  if (resume && resume.size !== size) {
    throw new RangeError(`The upload to resume has ${resume.size} bytes; the source has ${size}.`);
  }
  const name = options.name ?? found.name ?? 'upload';
  const mimeType = options.mimeType ?? found.mimeType;
  const call = { retries, ...(signal && { signal }) };

  let state: UploadState = { key: resume?.key ?? newKey(), id: resume?.id ?? null, size, parts: resume?.parts ?? [] };
  let told: Promise<void> = Promise.resolve();
  // One after the other, so that whoever writes them down keeps the latest.
  const note = (change: Partial<UploadState>): Promise<void> => {
    state = { ...state, ...change };
    const latest = state;
    told = told.then(() => options.onState?.(latest));
    return told;
  };
  await note({});
  const { data } = await start(
    { name, size, ...(mimeType && { mimeType }), ...(options.folder !== undefined && { folder: options.folder }) },
    { ...call, idempotencyKey: state.key },
  );
  // The service forgets an upload after a day; then it is a new one, of which nothing is there yet.
  await note({ id: data.id, parts: data.id === state.id ? state.parts : [] });
  try {
    await sendAll(cut(bytes, data.parts, new Set(state.parts.map(({ partNumber }) => partNumber))), {
      ...options,
      retries,
      total: size,
      sent: sizeOfParts(data.parts, state.parts),
      arrived: (partNumber, eTag) => note({ parts: [...state.parts, { partNumber, eTag }] }),
    });
    const parts = state.parts.toSorted((a, b) => a.partNumber - b.partNumber);
    await complete(data.id, { parts }, { ...call, timeoutMs: COMPLETE_TIMEOUT_MS });
  } catch (error) {
    // It may have been completed meanwhile; the caller wants to leave, not to hear of that.
    if (signal?.aborted && options.cancelOnAbort) await cancel(data.id).catch(() => {});
    throw error;
  }
  return { id: data.id };
}

const sizeOfParts = (planned: UploadPart[], there: UploadState['parts']): number => {
  const numbers = new Set(there.map(({ partNumber }) => partNumber));
  return planned.reduce((sum, { partNumber, size }) => sum + (numbers.has(partNumber) ? size : 0), 0);
};

interface Sending extends Pick<UploadOptions, 'parallel' | 'onProgress' | 'signal' | 'fetch'> {
  retries: number;
  total: number;
  sent: number;
  arrived: (partNumber: number, eTag: string) => Promise<void>;
}

/** Several take parts from the same pile until it is empty; when one fails, all stop. */
async function sendAll(
  parts: AsyncGenerator<Piece, void, void>,
  { parallel = PARALLEL, ...sending }: Sending,
): Promise<void> {
  const failed = new AbortController();
  const signal = sending.signal ? AbortSignal.any([sending.signal, failed.signal]) : failed.signal;
  let { sent } = sending;
  sending.onProgress?.(sent, sending.total);
  const work = async () => {
    for (;;) {
      signal.throwIfAborted();
      const taken = await parts.next();
      if (taken.done) return;
      const { part } = taken.value;
      const eTag = await send(taken.value, { ...sending, signal });
      await sending.arrived(part.partNumber, eTag);
      sent += part.size;
      sending.onProgress?.(sent, sending.total);
    }
  };
  const workers = Array.from({ length: Math.max(1, parallel) }, () =>
    work().catch((error: unknown) => {
      failed.abort(error);
      throw error;
    }),
  );
  try {
    await Promise.all(workers);
  } finally {
    await Promise.allSettled(workers);
    await parts.return();
  }
}

const send = (
  { part: { url, partNumber, size }, bytes }: Piece,
  { retries, signal, fetch = globalThis.fetch }: Pick<Sending, 'retries' | 'signal' | 'fetch'>,
): Promise<string> =>
  persist(
    async () => {
      const timeoutMs = PART_TIMEOUT_MS + Math.ceil((size / MIN_BYTES_PER_SECOND) * 1000);
      const response = await fetch(url, { method: 'PUT', body: bytes, signal: limited(signal, timeoutMs) });
      const answer = await read(response);
      if (!response.ok) throw new ApiProblem(answer);
      const eTag = response.headers.get('etag');
      if (eTag === null) throw new Error(`Part ${partNumber} has no ETag: let the storage's CORS rules expose it.`);
      return eTag;
    },
    // A part is the same however often it is sent, and object storages fail now and then.
    { retries, signal, passing: [500] },
  );
