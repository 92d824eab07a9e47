import type { WorkerTask } from '@review/contract';
import type { StepErrorType } from '../step-error.ts';
import type { Polled } from './family.ts';
import { jobState, type StatusWords } from './job-state.ts';
import { dataUri, type PictureLimits, type Reference } from './references.ts';
import { ofEnded, refused, type Vendor } from './refusal.ts';

/** Ark and MiniMax take an order as a list of text and pictures, and know it as a task in one of these states. */
const WORDS = {
  running: ['queued', 'running'],
  succeeded: ['succeeded'],
  failed: ['failed', 'cancelled', 'expired'],
} satisfies StatusWords;

/** They take requests of 64 MB, in which a picture is a third larger than it is. */
export const TOGETHER: Pick<PictureLimits, 'mostBytesTogether'> = { mostBytesTogether: 47 * 1024 * 1024 };

/** Pictures are references and never frames, which would decide the aspect ratio. */
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

/** What a task's state means; `meaningOf` reads the provider's codes. */
export function polledFrom(
  vendor: Vendor,
  { status, url, error: { code, message } = {} }: ContentTask,
  { retryAfterMs, meaningOf }: { retryAfterMs: number; meaningOf: (code: string) => StepErrorType | undefined },
  task: WorkerTask,
): Polled {
  const state = jobState(vendor, WORDS, { status, hasResult: url !== undefined, hasError: message !== undefined });
  if (state === 'running') return { state, progress: status === 'queued' ? 0 : 0.4, retryAfterMs };
  if (state === 'succeeded' && url !== undefined) return { state, output: { url } };
  if (state === 'succeeded') throw refused(vendor, { type: 'PROVIDER_FAILED', words: 'it made no video.' }, task);
  const end = status === undefined ? undefined : ENDS[status];
  if (end !== undefined) throw refused(vendor, { type: 'PROVIDER_FAILED', words: end }, task);
  const words = [message, code && `(${code})`].filter(Boolean).join(' ');
  throw refused(vendor, { type: ofEnded(meaningOf(code ?? '')), words: words || undefined }, task);
}

const ENDS: Partial<Record<string, string>> = {
  cancelled: 'the order was canceled there.',
  expired: 'the order waited there for too long.',
};
