import type { UploadedParts, UploadPart } from '@review/contract';
import { newKey, readAnswer } from './call.ts';
import type { Client } from './client.ts';
import { ApiProblem } from './problem.ts';
import { retryTransient, withTimeout } from './retry.ts';
import { cutIntoParts, openSource, type Piece, type Source } from './source.ts';
import { stepsOf, type UploadTarget } from './upload-target.ts';

const RETRIES = 8;
const PARALLEL = 4;
/** Ends a stalled part without cutting off a slow connection; the time for the bytes at the minimum rate is added. */
const PART_TIMEOUT_MS = 300_000;
const MIN_BYTES_PER_SECOND = 8 * 1024;
/** Longer than other calls, because the service assembles the parts before it answers. */
const COMPLETE_TIMEOUT_MS = 120_000;

/** The state of an upload, as JSON. With it and the same bytes, another process can resume. It holds no secret. */
export interface UploadState {
  /** The idempotency key of the start request. A repeat returns the same upload with new presigned URLs. */
  key: string;
  /** Null until the upload has started. */
  id: string | null;
  size: number;
  parts: UploadedParts['parts'];
}

export interface UploadOptions {
  to: UploadTarget;
  /** A path (in Node), a Blob or File, bytes, or a stream, which needs `size`. */
  source: Source;
  size?: number;
  /** Default: the name of the File, or the last segment of the path. */
  name?: string;
  mimeType?: string;
  /** Only for files of a project; null is the root. */
  folder?: { id: string } | null;
  /** Concurrent parts. Default: 4. */
  parallel?: number;
  /** The maximum of retries per request. Default: 8. */
  retries?: number;
  /** Called after each part with the bytes that have arrived. */
  onProgress?: (sent: number, total: number) => void;
  /** Called with every new state before the upload continues. Store the latest to resume after a crash. */
  onState?: (state: UploadState) => void | Promise<void>;
  /** A stored state. A stream must start at its beginning again. */
  resume?: UploadState;
  signal?: AbortSignal;
  /** Whether the signal also cancels the upload at the service; otherwise it can be resumed for a day. */
  cancelOnAbort?: boolean;
  /** Sends the parts. Default: the global `fetch`. */
  fetch?: typeof fetch;
}

/** Uploads a file or an attachment in parallel parts with retries, and returns its id. */
export async function upload(client: Client, options: UploadOptions): Promise<{ id: string }> {
  const { to, resume, signal, retries = RETRIES } = options;
  const { start, complete, cancel } = stepsOf(client, to);
  const { bytes, size, ...found } = await openSource(options.source, options.size);
  if (resume && resume.size !== size) {
    throw new RangeError(
      `The upload to resume has ${resume.size} bytes, but the source has ${size}. Resume with the same source.`,
    );
  }
  const name = options.name ?? found.name ?? 'upload';
  const mimeType = options.mimeType ?? found.mimeType;
  const call = { retries, ...(signal && { signal }) };

  let state: UploadState = { key: resume?.key ?? newKey(), id: resume?.id ?? null, size, parts: resume?.parts ?? [] };
  let saved: Promise<void> = Promise.resolve();
  // The calls of `onState` are sequential, so that the caller stores the latest state last.
  const saveState = (change: Partial<UploadState>): Promise<void> => {
    state = { ...state, ...change };
    const latest = state;
    saved = saved.then(() => options.onState?.(latest));
    return saved;
  };
  await saveState({});
  const { data } = await start(
    { name, size, ...(mimeType && { mimeType }), ...(options.folder !== undefined && { folder: options.folder }) },
    { ...call, idempotencyKey: state.key },
  );
  // An upload expires after a day; then the key starts a new one without parts.
  await saveState({ id: data.id, parts: data.id === state.id ? state.parts : [] });
  try {
    await sendAll(cutIntoParts(bytes, data.parts, new Set(state.parts.map(({ partNumber }) => partNumber))), {
      ...options,
      retries,
      total: size,
      sent: sizeOfParts(data.parts, state.parts),
      arrived: (partNumber, eTag) => saveState({ parts: [...state.parts, { partNumber, eTag }] }),
    });
    const parts = state.parts.toSorted((a, b) => a.partNumber - b.partNumber);
    await complete(data.id, { parts }, { ...call, timeoutMs: COMPLETE_TIMEOUT_MS });
  } catch (error) {
    // Errors are ignored: the upload may have been completed meanwhile, and the caller has aborted.
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

/** Sends the parts with `parallel` concurrent requests. The first failure aborts the others. */
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
  retryTransient(
    async () => {
      const timeoutMs = PART_TIMEOUT_MS + Math.ceil((size / MIN_BYTES_PER_SECOND) * 1000);
      const response = await fetch(url, { method: 'PUT', body: bytes, signal: withTimeout(signal, timeoutMs) });
      const answer = await readAnswer(response);
      if (!response.ok) throw new ApiProblem(answer);
      const eTag = response.headers.get('etag');
      if (eTag === null)
        throw new Error(`Part ${partNumber} has no ETag: add it to ExposeHeaders in the storage's CORS rules.`);
      return eTag;
    },
    // A PUT of a part is idempotent, and object storages answer 500 occasionally.
    { retries, signal, transientStatuses: [500] },
  );
