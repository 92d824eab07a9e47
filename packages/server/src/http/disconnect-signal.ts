import type { Response } from 'express';

/** Aborted when the caller disconnects or the answer is complete. */
export function disconnectSignal(response: Response): AbortSignal {
  const disconnected = new AbortController();
  if (response.closed) disconnected.abort();
  response.once('close', () => disconnected.abort());
  return disconnected.signal;
}
