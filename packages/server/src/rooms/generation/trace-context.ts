import { type Engine, instantOf } from '@review/contract';
import { type Span, SpanKind, startSpan, traceparentOf } from '@review/tracing';
import type { StoredGeneration } from './queries.ts';

interface HandOver {
  span: Span;
  /** What the worker continues. */
  traceparent: string;
}

/** Starts the span of a hand-over to a worker: the first has the time in the queue. Null if the order was not traced. */
export function startHandOver(generation: StoredGeneration, engine: Engine): HandOver | null {
  const { traceparent, queued_at, epoch, file_id, family } = generation;
  if (traceparent === null) return null;
  const attributes = { 'review.engine': engine, 'review.file_id': file_id, 'review.family': family };
  const startTime = new Date(epoch === 1 ? instantOf(queued_at) : Date.now());
  const span = startSpan('generation.queued', { kind: SpanKind.PRODUCER, attributes, startTime }, { traceparent });
  // A server without tracing passes on what it has read.
  return { span, traceparent: traceparentOf(span) ?? traceparent };
}
