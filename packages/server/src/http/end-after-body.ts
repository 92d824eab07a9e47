import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasBody } from './read-bytes.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_MS = 30_000;

/**
 * Sends an answer in full, then reads the rest of the request's body off before the answer ends. Without that, a
 * connection that closes while the sender still writes is reset, and the sender never sees the answer. A body that takes
 * too long or is too large closes the connection.
 */
export async function endAfterBody(request: IncomingMessage, response: ServerResponse, answer: string): Promise<void> {
  response.setHeader('Content-Length', Buffer.byteLength(answer));
  if (!hasBody(request) || request.complete || request.destroyed) {
    response.end(answer);
    return;
  }
  response.write(answer);
  const isDrained = await drain(request);
  response.end();
  if (!isDrained) request.destroy();
}

/** Discards what is left of a body; false if it goes beyond the bounds or breaks off. */
function drain(request: IncomingMessage): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), MAX_MS);
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) resolve(false);
  });
  request.once('end', () => resolve(true));
  request.once('close', () => resolve(false));
  request.on('error', () => resolve(false));
  request.resume();
  return promise.finally(() => {
    clearTimeout(timer);
    request.removeAllListeners('data');
  });
}
