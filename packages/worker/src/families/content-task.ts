import type { WorkerTask } from '@review/contract';
import type { StepErrorType } from '../step-error.ts';
import type { Polled } from './family.ts';
import { jobState, type StatusWords } from './job-state.ts';
import { dataUri, type PictureLimits, type Reference } from './references.ts';
import { asFinalType, toStepError, type Vendor } from './refusal.ts';

/** The task states of Ark and MiniMax, whose APIs share a format. */
const WORDS = {
  running: ['queued', 'running'],
  succeeded: ['succeeded'],
  failed: ['failed', 'cancelled', 'expired'],
} satisfies StatusWords;

/** Both accept requests of 64 MB, in which base64 adds a third to a picture. */
export const TOGETHER: Pick<PictureLimits, 'maxTotalBytes'> = { maxTotalBytes: 47 * 1024 * 1024 };

/** Sends pictures as references, not as frames, which would determine the aspect ratio. */
export const contentOf = (text: string, pictures: Reference[]): object[] => [
  { type: 'text', text },
  ...pictures.map((picture) => ({
    type: 'image_url',
    image_url: { url: dataUri(picture) },
    role: 'reference_image',
  })),
];

interface ContentTask {
  status: string | undefined;
  url: string | undefined;
  error: { code?: string | undefined; message?: string | undefined } | undefined;
}

/** Maps a task's state to the result of a poll; `meaningOf` maps the provider's error codes. */
export function toPolled(
  vendor: Vendor,
  { status, url, error: { code, message } = {} }: ContentTask,
  { retryAfterMs, meaningOf }: { retryAfterMs: number; meaningOf: (code: string) => StepErrorType | undefined },
  task: WorkerTask,
): Polled {
  const state = jobState(vendor, WORDS, { status, hasResult: url !== undefined, hasError: message !== undefined });
  if (state === 'running') return { state, progress: status === 'queued' ? 0 : 0.4, retryAfterMs };
  if (state === 'succeeded' && url !== undefined) return { state, output: { url } };
  if (state === 'succeeded') throw toStepError(vendor, { type: 'PROVIDER_FAILED', words: 'it made no video.' }, task);
  const end = status === undefined ? undefined : ENDS[status];
  if (end !== undefined) throw toStepError(vendor, { type: 'PROVIDER_FAILED', words: end }, task);
  const words = [message, code && `(${code})`].filter(Boolean).join(' ');
  throw toStepError(vendor, { type: asFinalType(meaningOf(code ?? '')), words: words || undefined }, task);
}

const ENDS: Partial<Record<string, string>> = {
  cancelled: 'the job was canceled at the provider.',
  expired: 'the job waited too long at the provider.',
};
