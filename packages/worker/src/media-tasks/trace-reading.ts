import type { Media, MediaTask } from '@review/contract';
import { inSpan, isTracing, markFailed } from '@review/tracing';
import { StepError } from '../step-error.ts';

/** How an attempt to read media has ended. READY with an error if only facts were read. */
export type Reading = Pick<Media, 'error'> & { status: 'READY' | 'FAILED' };

/** Runs an attempt to read media in a span of the trace of the generation that made the file; in a trace of its own, if there is none. */
export function traceReading(
  fileId: string,
  { kind, traceparent }: MediaTask,
  signal: AbortSignal,
  read: () => Promise<Reading>,
): Promise<Reading> {
  if (!isTracing()) return read();
  const attributes = { 'review.file_id': fileId, 'review.media_kind': kind };
  return inSpan('media.read', { attributes, parent: { traceparent }, signal, errorType }, async (span) => {
    const reading = await read();
    if (reading.status === 'FAILED') markFailed(span, reading.error?.code ?? 'INTERNAL');
    return reading;
  });
}

/** A task that another worker holds has not failed. */
function errorType(error: unknown): string | null {
  if (!(error instanceof StepError)) return 'INTERNAL';
  return error.type === 'LOST' ? null : error.type;
}
