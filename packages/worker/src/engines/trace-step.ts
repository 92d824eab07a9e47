import type { GenerationTask } from '@review/contract';
import { inSpan } from '@review/tracing';
import { WAITING } from '../step-error.ts';
import type { StepLog } from '../steps/step-log.ts';
import { toFailure } from './timeline.ts';

/** Runs an attempt at a step in a span of the trace that ordered the generation; without one, if that was not traced. */
export function traceStep<T>(
  { fileId, family, traceparent }: GenerationTask,
  { name, attempt }: StepLog,
  signal: AbortSignal,
  run: () => Promise<T>,
): Promise<T> {
  if (traceparent === undefined) return run();
  const attributes = { 'review.file_id': fileId, 'review.family': family, 'review.attempt': attempt };
  return inSpan(`step.${name}`, { attributes, parent: { traceparent }, signal, errorType }, run);
}

/** A step that waits has not failed. */
function errorType(error: unknown): string | null {
  const { type } = toFailure(error);
  return WAITING.has(type) ? null : type;
}
