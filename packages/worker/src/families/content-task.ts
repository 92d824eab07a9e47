import type { WorkerTask } from '@review/contract';
import { z } from 'zod';
import type { StepErrorType } from '../step-error.ts';
import type { Polled } from './family.ts';
import { dataUri, type PictureLimits, type Reference } from './references.ts';
import { ofEnded, refused, type Vendor } from './refusal.ts';

/** Ark and MiniMax take an order as a list of text and pictures, and know it as a task in one of these states. */
export const TaskStatus = z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired']);

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

export interface ContentTask {
  status: z.infer<typeof TaskStatus>;
  url: string | null | undefined;
  error: { code: string; message: string } | null | undefined;
}

/** What a task's state means; `meaningOf` reads the provider's codes. */
export function polledFrom(
  vendor: Vendor,
  { status, url, error }: ContentTask,
  { retryAfterMs, meaningOf }: { retryAfterMs: number; meaningOf: (code: string) => StepErrorType | undefined },
  task: WorkerTask,
): Polled {
  if (status === 'queued') return { state: 'running', progress: 0, retryAfterMs };
  if (status === 'running') return { state: 'running', progress: 0.4, retryAfterMs };
  if (status === 'succeeded' && url) return { state: 'succeeded', output: { url } };
  if (status === 'failed') {
    const type = ofEnded(meaningOf(error?.code ?? ''));
    throw refused(vendor, { type, words: error ? `${error.message} (${error.code})` : undefined }, task);
  }
  throw refused(vendor, { type: 'PROVIDER_FAILED', words: ENDS[status] }, task);
}

const ENDS = {
  succeeded: 'it made no video.',
  cancelled: 'the order was canceled there.',
  expired: 'the order waited there for too long.',
};
