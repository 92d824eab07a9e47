import type { Response } from 'express';

/** One for all, because each would take a stack trace. */
const ENDED = new DOMException('The response has ended.', 'AbortError');

/** Aborted when the caller disconnects or the answer is complete. */
export function disconnectSignal(response: Response): AbortSignal {
  const disconnected = new AbortController();
  if (response.closed) disconnected.abort(ENDED);
  response.once('close', () => disconnected.abort(ENDED));
  return disconnected.signal;
}
