import { type Engine, instantOf } from '@review/contract';
import { type Span, SpanKind, startSpan, traceparentOf } from '@review/tracing';
import { type JsonText, parseJson } from '../../db/json.ts';
import type { StoredStage } from '../../db/schema.ts';
import type { StoredGeneration } from './queries.ts';

type Stages = Record<string, StoredStage>;

/** The stage that has the trace context. No stage of a worker has an empty name. */
const TRACED = '';

/** The stages of a new generation: none, but the trace context of the request that orders it. */
export function initialStages(): JsonText<Stages> {
  const traceparent = traceparentOf();
  return JSON.stringify(traceparent === undefined ? {} : { [TRACED]: { intents: 0, job: null, traceparent } });
}

/** The stages that workers have reserved. */
export function stagesOf({ stages }: Pick<StoredGeneration, 'stages'>): Stages {
  const { [TRACED]: _, ...reserved } = parseJson(stages);
  return reserved;
}

interface HandOver {
  span: Span;
  /** What the worker continues. */
  traceparent: string;
}

/** Starts the span of a hand-over to a worker: the first has the time in the queue. Null if the order was not traced. */
export function startHandOver(generation: StoredGeneration, engine: Engine): HandOver | null {
  const { stages, queued_at, epoch, file_id, family } = generation;
  const traceparent = parseJson(stages)[TRACED]?.traceparent;
  if (traceparent === undefined) return null;
  const attributes = { 'review.engine': engine, 'review.file_id': file_id, 'review.family': family };
  const startTime = new Date(epoch === 1 ? instantOf(queued_at) : Date.now());
  const span = startSpan('generation.queued', { kind: SpanKind.PRODUCER, attributes, startTime }, { traceparent });
  // A server without tracing passes on what it has read.
  return { span, traceparent: traceparentOf(span) ?? traceparent };
}
