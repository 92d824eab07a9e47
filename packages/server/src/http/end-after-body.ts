import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasBody } from './read-bytes.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_MS = 30_000;

/**
 * Sends the response and discards the rest of the request's body before it ends the response. If the connection closed
 * while the client still sends, it would be reset and the client would never see the response. Closes the connection if
 * the rest is larger than 64 MiB or takes more than 30 seconds.
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

/** Discards the rest of a body. Resolves to false if it exceeds a limit or the connection closes first. */
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
