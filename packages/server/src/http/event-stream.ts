import { Readable } from 'node:stream';
import { type Endpoint, EVENT_STREAM, successStatus } from '@review/contract';
import type { Request, Response } from 'express';

/** A stream sends a heartbeat every 15 seconds, so that a connection without progress for this long is dead. */
const STALLED_MS = 60_000;

/** Whether the route answers with server-sent events. */
export function isEventStream(route: Endpoint): boolean {
  const declared = route.responses[successStatus(route)];
  return typeof declared === 'object' && declared !== null && Reflect.get(declared, 'contentType') === EVENT_STREAM;
}

/**
 * Returns the chunks of a response as a stream that ends with the connection, and closes it after an error. Sets headers
 * that keep proxies from buffering it.
 */
export function toReadable(
  chunks: AsyncIterable<string>,
  request: Request,
  response: Response,
  onError: (error: Error) => void,
): Readable {
  response.set({
    'Content-Type': EVENT_STREAM,
    'Cache-Control': 'private, no-store, no-transform',
    'X-Accel-Buffering': 'no',
  });
  const readable = request.method === 'HEAD' ? Readable.from([]) : Readable.from(chunks, { highWaterMark: 1 });
  readable.on('error', (error) => {
    onError(error);
    response.destroy();
  });
  closeWhenStalled(request, response);
  response.once('close', () => readable.destroy());
  return readable;
}

/** Closes the connection of a stream whose client no longer reads. */
export function closeWhenStalled({ socket }: Request, response: Response): void {
  const destroy = () => response.destroy();
  socket.setTimeout(STALLED_MS).on('timeout', destroy);
  response.once('close', () => socket.off('timeout', destroy));
}
