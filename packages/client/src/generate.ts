import type { FileDetails, GenerateRequest, Generation, GenerationError } from '@review/contract';
import type { z } from 'zod';
import type { Client } from './client.ts';
import { pause } from './pause.ts';

/** Enough to wait for a restart of the service, during which the generation continues. */
const RETRIES = 12;
/** The longest that the service holds an answer. */
const WAIT_SECONDS = 50;
const PROGRESS_SECONDS = 5;
const FINAL: readonly string[] = ['UPLOADED', 'FAILED', 'CANCELED'] satisfies FileDetails['status'][];

export interface WaitOptions {
  /** Called at the start, about every five seconds, and at the end. */
  onProgress?: (generation: Generation) => void;
  /** Aborts the wait, not the generation. */
  signal?: AbortSignal;
}

type Asked = z.input<typeof GenerateRequest>;

export interface GenerateOptions
  extends Omit<Asked, 'folder' | 'attachments'>,
    Partial<Pick<Asked, 'folder' | 'attachments'>>,
    WaitOptions {
  /** The id of the project that the file belongs to. */
  project: string;
  /** Called with the id of the file once it exists. `waitFor` can continue with it, also in another process. */
  onStart?: (fileId: string) => void;
  /** Whether the signal also cancels the generation. */
  cancelOnAbort?: boolean;
  /** Makes the request idempotent: requests with the same key start one generation. */
  idempotencyKey?: string;
}

/** The generation ended without a file. `error` is the reason; null if it was canceled. */
export class GenerationFailed extends Error {
  override name = 'GenerationFailed';
  readonly file: FileDetails;
  readonly error: GenerationError | null;

  constructor(file: FileDetails) {
    const error = file.generation?.error ?? null;
    super(error ? `${error.code}: ${error.message}` : `The file ${file.id} is ${file.status}.`);
    this.file = file;
    this.error = error;
  }
}

/** Generates a file and waits for it. Throws `GenerationFailed` if it fails or is canceled. */
export async function generate(client: Client, options: GenerateOptions): Promise<FileDetails> {
  const { project, onStart, onProgress, signal, cancelOnAbort, idempotencyKey, ...asked } = options;
  const body = { folder: null, attachments: [], ...asked };
  const call = { ...(signal && { signal }), ...(idempotencyKey !== undefined && { idempotencyKey }) };
  const { data } = await client.generation.generate({ params: { id: project }, body }, call);
  try {
    onStart?.(data.id);
    return await waitFor(client, data.id, { ...(onProgress && { onProgress }), ...(signal && { signal }) });
  } catch (error) {
    // Errors are ignored: the generation may have ended meanwhile, and the caller has aborted.
    if (signal?.aborted && cancelOnAbort) await client.files.cancel({ params: { id: data.id } }).catch(() => {});
    throw error;
  }
}

/** Waits without a time limit until a file is ready. Throws `GenerationFailed` if its generation fails or is canceled. */
export async function waitFor(client: Client, fileId: string, options: WaitOptions = {}): Promise<FileDetails> {
  const { onProgress, signal } = options;
  const call = { retries: RETRIES, ...(signal && { signal }) };
  let wait = 0;
  for (;;) {
    const askedAt = performance.now();
    const { data: file } = await client.files.get({ params: { id: fileId }, query: { wait } }, call);
    if (file.generation) onProgress?.(file.generation);
    if (file.status === 'UPLOADED') return file;
    if (FINAL.includes(file.status)) throw new GenerationFailed(file);
    // Avoids a busy loop: an overloaded or stopping service answers without waiting.
    if (performance.now() - askedAt < (wait * 1000) / 2) await pause(1000 + Math.random() * 1000, signal);
    wait = onProgress ? PROGRESS_SECONDS : WAIT_SECONDS;
  }
}
