import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import { Counter, collectDefaultMetrics, Histogram } from 'prom-client';
import type { Deps } from '../deps.ts';
import { traceRequest } from './trace-request.ts';

/** Requested every few seconds; health.ts logs when their result changes. */
const PROBES = new Set(['/healthz', '/readyz', '/metrics']);
/** For the log and the metric, as nginx does: the client closed the connection before it got a response. */
const DISCONNECTED = 499;
const VALID_REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Gives each request an id, a log line and a metric. Logs paths without the query string, which can hold a signature. */
export function observe({ log, metrics }: Deps): RequestHandler {
  collectDefaultMetrics({ register: metrics });
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of HTTP requests in seconds, by operation of the contract and status.',
    labelNames: ['operation', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers: [metrics],
  });
  const problems = new Counter({
    name: 'http_problems_total',
    help: 'Responses with a problem, by its code.',
    labelNames: ['code'],
    registers: [metrics],
  });
  return (request, response, next) => {
    const started = performance.now();
    const given = request.get('x-request-id');
    const requestId = given !== undefined && VALID_REQUEST_ID.test(given) ? given : randomUUID();
    response.locals.requestId = requestId;
    response.setHeader('X-Request-Id', requestId);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('X-Frame-Options', 'DENY');
    const trace = traceRequest(request, PROBES);
    response.on('close', () => {
      const operation = response.locals.operation ?? 'other';
      const milliseconds = performance.now() - started;
      const status = response.headersSent ? response.statusCode : DISCONNECTED;
      durations.observe({ operation, status }, milliseconds / 1000);
      const { problem } = response.locals;
      if (problem !== undefined) problems.inc({ code: problem });
      const traceId = trace?.end(response, status);
      const { method, path } = request;
      const level = PROBES.has(path) ? 'debug' : 'info';
      const fields = { requestId, traceId, operation, status, ms: Math.round(milliseconds) };
      log[level](fields, `${method} ${path} ${status}`);
    });
    if (trace === null) next();
    else trace.run(next);
  };
}
