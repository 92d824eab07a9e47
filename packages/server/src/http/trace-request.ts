import { isTracing, markFailed, SpanKind, startSpan, traceIdOf, withSpan } from '@review/tracing';
import type { Request, Response } from 'express';

interface RequestTrace {
  /** Runs the rest of the pipeline inside the span. */
  run(next: () => void): void;
  /** Ends the span and returns the id of its trace, if that is recorded. */
  end(response: Response, status: number): string | undefined;
}

/**
 * Starts the span of a request, below that of its caller. It names the operation, and has neither the path nor the query, which
 * contain ids and signatures. Null without tracing, for probes, and for workers that only look for work.
 */
export function traceRequest({ method, path, headers }: Request, probes: ReadonlySet<string>): RequestTrace | null {
  if (!isTracing()) return null;
  if (probes.has(path) || (path.startsWith('/worker/') && headers.traceparent === undefined)) return null;
  const { traceparent, tracestate } = headers;
  const attributes = { 'http.request.method': method };
  const span = startSpan(method, { kind: SpanKind.SERVER, attributes }, { traceparent, tracestate });
  return {
    run: (next) => withSpan(span, next),
    end({ locals }, status) {
      const { route, operation, problem, requestId } = locals;
      const name = route?.name ?? operation;
      if (name !== undefined) span.updateName(name);
      if (route !== undefined) span.setAttribute('http.route', route.path);
      span.setAttributes({ 'http.response.status_code': status, 'review.request_id': requestId ?? '' });
      if (problem !== undefined) span.setAttribute('error.type', problem);
      if (status >= 500) markFailed(span, problem ?? String(status));
      // Only while it is recorded.
      const traceId = traceIdOf(span);
      span.end();
      return traceId;
    },
  };
}
