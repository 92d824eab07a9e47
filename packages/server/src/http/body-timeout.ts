import type { IncomingMessage, ServerResponse } from 'node:http';
import { ProblemError } from '../request/problem.ts';

export interface BodyLimits {
  /** The maximum time between two chunks of a body. */
  idleMs: number;
  /** The minimum average rate applies after this time. */
  graceMs: number;
  minBytesPerSecond: number;
}

/**
 * Uploads have no total timeout, only an idle timeout. The minimum rate is far below that of any usable connection; it
 * stops clients that hold a connection for days by sending a byte now and then.
 */
export const BODY_LIMITS: BodyLimits = { idleMs: 30_000, graceMs: 120_000, minBytesPerSecond: 1024 };

const CHECKS_PER_IDLE_TIME = 4;

/** Answers 408 and closes the connection if the request's body stalls or arrives too slowly. */
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
    // Buffered chunks pause the socket: then the server is slow, not the client.
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
