import type { Response } from 'express';

/** Aborted when the caller has gone, or has its answer. */
export function goneSignal(response: Response): AbortSignal {
  const gone = new AbortController();
  if (response.closed) gone.abort();
  response.once('close', () => gone.abort());
  return gone.signal;
}
