import {
  type Attributes,
  type Context,
  context,
  propagation,
  type Span,
  type SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

export { type Span, SpanKind } from '@opentelemetry/api';

export interface SpanOptions {
  kind?: SpanKind;
  attributes?: Attributes;
  startTime?: Date;
}

/** A trace context as HTTP carries it. Other headers are ignored. */
export interface TraceHeaders {
  traceparent?: string | string[] | undefined;
  tracestate?: string | string[] | undefined;
}

/** Starts a span below the given one, or else below the active one. */
export function startSpan(name: string, options: SpanOptions = {}, parent?: TraceHeaders): Span {
  return trace.getTracer('review').startSpan(name, options, contextOf(parent));
}

/** Runs `work` with the span as the active one, which its asynchronous calls inherit. */
export const withSpan = <T>(span: Span, work: () => T): T => context.with(trace.setSpan(context.active(), span), work);

interface WorkOptions extends SpanOptions {
  parent?: TraceHeaders;
  /** What may interrupt the work. */
  signal?: AbortSignal;
  /** Names an error; null takes it as no fault. */
  errorType: (error: unknown) => string | null;
}

/** Runs `work` in a span of its own. An error after `signal` has stopped the work is no fault. Messages stay out of traces. */
export async function inSpan<T>(name: string, options: WorkOptions, work: (span: Span) => Promise<T>): Promise<T> {
  const { parent, signal, errorType, ...started } = options;
  const span = startSpan(name, started, parent);
  try {
    return await withSpan(span, () => work(span));
  } catch (error) {
    markFailed(span, isStopped(signal) ? null : errorType(error));
    throw error;
  } finally {
    span.end();
  }
}

/** The name of the error does not tell: libraries also throw an AbortError after a timeout, which is a fault. */
const isStopped = (signal: AbortSignal | undefined): boolean =>
  signal?.aborted === true && !(signal.reason instanceof Error && signal.reason.name === 'TimeoutError');

export function markFailed(span: Span, errorType: string | null): void {
  if (errorType === null) return;
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', errorType);
}

/** The headers that continue the trace in another process; none if there is no active span. */
export function traceHeaders(): Record<string, string> {
  return headersOf(context.active());
}

/** The `traceparent` of a span, by default the active one; undefined if nothing is traced. */
export function traceparentOf(span: Span | undefined = trace.getActiveSpan()): string | undefined {
  return span && headersOf(trace.setSpan(context.active(), span))['traceparent'];
}

/** Whether there is an active span. */
export const isTraced = (): boolean => trace.getActiveSpan() !== undefined;

/** The id of the trace, for log lines; undefined if nothing is traced. */
export const traceIdOf = (span: Span): string | undefined =>
  span.isRecording() ? span.spanContext().traceId : undefined;

const contextOf = (parent: TraceHeaders | undefined): Context =>
  parent === undefined ? context.active() : propagation.extract(context.active(), parent);

function headersOf(active: Context): Record<string, string> {
  const headers: Record<string, string> = {};
  propagation.inject(active, headers);
  return headers;
}
