import type { FileRecord, GenerateRequest, Generation, GenerationError } from '@review/contract';
import type { z } from 'zod';
import type { Client } from './client.ts';
import { pause } from './pause.ts';

/** A generation goes on whoever waits for it, so a service that restarts is waited for too. */
const RETRIES = 12;
/** The service answers by then at the latest. */
const WAIT_SECONDS = 50;
const PROGRESS_SECONDS = 5;
const FINAL: readonly string[] = ['UPLOADED', 'FAILED', 'CANCELED'] satisfies FileRecord['status'][];

export interface WaitOptions {
  /** Hears of the generation when it begins to wait, about every five seconds, and at the end. */
  onProgress?: (generation: Generation) => void;
  /** Ends the waiting, not the generation. */
  signal?: AbortSignal;
}

type Asked = z.input<typeof GenerateRequest>;

export interface GenerateOptions
  extends Omit<Asked, 'folder' | 'attachments'>,
    Partial<Pick<Asked, 'folder' | 'attachments'>>,
    WaitOptions {
  /** The id of the project that gets the file. */
  project: string;
  /** Hears the id of the file as soon as there is one: `waitFor` goes on from it, in another process too. */
  onStart?: (fileId: string) => void;
  /** Whether the signal ends the generation too. */
  cancelOnAbort?: boolean;
  /** Names this generation, so that it is ordered once whoever asks again. */
  idempotencyKey?: string;
}

/** A generation that came to no file: `error` says why, and is null where somebody canceled it. */
export class GenerationFailed extends Error {
  override name = 'GenerationFailed';
  readonly file: FileRecord;
  readonly error: GenerationError | null;

  constructor(file: FileRecord) {
    const error = file.generation?.error ?? null;
    super(error ? `${error.code}: ${error.message}` : `The file ${file.id} is ${file.status}.`);
    this.file = file;
    this.error = error;
  }
}

/** Generates a file and waits for it; throws `GenerationFailed` where there will be none. */
export async function generate(client: Client, options: GenerateOptions): Promise<FileRecord> {
  const { project, onStart, onProgress, signal, cancelOnAbort, idempotencyKey, ...asked } = options;
  const body = { folder: null, attachments: [], ...asked };
  const call = { ...(signal && { signal }), ...(idempotencyKey !== undefined && { idempotencyKey }) };
  const { data } = await client.generation.generate({ params: { id: project }, body }, call);
  try {
    onStart?.(data.id);
    return await waitFor(client, data.id, { ...(onProgress && { onProgress }), ...(signal && { signal }) });
  } catch (error) {
    // It may have ended meanwhile; the caller wants to leave, not to hear of that.
    if (signal?.aborted && cancelOnAbort) await client.files.cancel({ params: { id: data.id } }).catch(() => {});
    throw error;
  }
}

/** Waits until a file is there, however long its generation takes; throws `GenerationFailed` where there will be none. */
export async function waitFor(client: Client, fileId: string, options: WaitOptions = {}): Promise<FileRecord> {
  const { onProgress, signal } = options;
  const patience = { retries: RETRIES, ...(signal && { signal }) };
  let wait = 0;
  for (;;) {
    const askedAt = performance.now();
    const { data: file } = await client.files.get({ params: { id: fileId }, query: { wait } }, patience);
    if (file.generation) onProgress?.(file.generation);
    if (file.status === 'UPLOADED') return file;
    if (FINAL.includes(file.status)) throw new GenerationFailed(file);
    // A service that holds no more requests, or stops, answers at once: it is not to be asked all the time.
    if (performance.now() - askedAt < (wait * 1000) / 2) await pause(1000 + Math.random() * 1000, signal);
    wait = onProgress ? PROGRESS_SECONDS : WAIT_SECONDS;
  }
}
