import { type Client, createClient } from '@review/client';
import { QueryClient } from '@tanstack/react-query';
import { watchedFetch } from './connection/watched-fetch.ts';
import { savedKey } from './saved-key.ts';

export const clientFor = (token: string | (() => string)): Client =>
  // Few retries: a user who waits should see the error soon.
  createClient({ baseUrl: window.location.origin, token, fetch: watchedFetch, retries: 2 });

/** The API client with the key of the session. */
export const client: Client = clientFor(() => savedKey() ?? '');

export const queryClient = new QueryClient({
  // The client already retries.
  defaultOptions: { queries: { staleTime: 10_000, retry: false } },
});
