import { noteRateLimit } from './rate-limits.ts';
import { noteAnswer, noteNoAnswer, Unreachable } from './reachability.ts';
import { noteRefusal } from './refusal.ts';

/** `fetch` that records what each answer tells about the service, the session and its rate limits. */
export const watchedFetch: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  // Streams have their own connection state, and the service may have too many of them.
  const isStream = headers.get('accept') === 'text/event-stream';
  let response: Response;
  try {
    response = await fetch(input, init);
  } catch (error) {
    const isAborted = error instanceof DOMException && error.name === 'AbortError';
    if (!isAborted && !isStream) noteNoAnswer();
    throw error instanceof TypeError ? new Unreachable(error.message, { cause: error }) : error;
  }
  if (!isStream) noteAnswer(response);
  if (response.status === 401) noteRefusal(headers.get('authorization'));
  noteRateLimit(init?.method ?? 'GET', response.url, response.headers);
  return response;
};
