import type { IncomingMessage, ServerResponse } from 'node:http';
import { ProblemError } from '../request/problem.ts';

export interface BodyLimits {
  /** A body of which no byte arrives for this long is given up. */
  idleMs: number;
  /** From this age on, a body must have arrived at the minimum rate on average. */
  graceMs: number;
  minBytesPerSecond: number;
}

/**
 * An upload may take as long as its line needs: only bytes that stop coming end it. The minimum rate is far below any
 * usable line; it keeps a sender of one byte now and then from holding a connection for days.
 */
export const BODY_LIMITS: BodyLimits = { idleMs: 30_000, graceMs: 120_000, minBytesPerSecond: 1024 };

const CHECKS_PER_IDLE_TIME = 4;

/** Answers 408 to a request whose body stops arriving, or arrives too slowly, and closes its connection. */
export function limitBody(request: IncomingMessage, response: ServerResponse, limits: BodyLimits): void {
  const { headers, socket, url = '/' } = request;
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return;
  const startedAt = performance.now();
  const bytesBefore = socket.bytesRead;
  let received = 0;
  let progressedAt = startedAt;

  const timer = setInterval(() => {
    if (request.complete) return stop();
    const now = performance.now();
    const arrived = socket.bytesRead - bytesBefore;
    // While chunks wait to be handled, the socket is not read: then the server is the slow one.
    if (arrived > received || request.readableLength > 0) progressedAt = now;
    received = arrived;
    if (now - progressedAt >= limits.idleMs) refuse(`No byte of the body arrived for ${limits.idleMs / 1000} s.`);
    else if (now - startedAt > limits.graceMs + (received / limits.minBytesPerSecond) * 1000) {
      refuse(`The body arrived at less than ${limits.minBytesPerSecond} bytes per second.`);
    }
  }, limits.idleMs / CHECKS_PER_IDLE_TIME).unref();
  const stop = () => clearInterval(timer);
  request.once('close', stop);

  function refuse(detail: string): void {
    stop();
    if (response.headersSent) {
      request.destroy();
      return;
    }
    const problem = new ProblemError('REQUEST_TIMEOUT', { detail });
    const [path = '/'] = url.split('?');
    const requestId = String(response.getHeader('x-request-id') ?? '');
    response
      .writeHead(problem.status, { 'Content-Type': 'application/problem+json', Connection: 'close' })
      .end(JSON.stringify(problem.body(path, requestId)));
  }
}
