import { type Client, createClient } from '@review/client';
import { QueryClient } from '@tanstack/react-query';
import { watchedFetch } from './rate-limits.ts';
import { savedKey } from './saved-key.ts';

export const clientFor = (token: string | (() => string)): Client =>
  // Somebody is looking: better to say what is wrong than to keep trying for long.
  createClient({ baseUrl: window.location.origin, token, fetch: watchedFetch, retries: 2 });

/** The whole service, as whoever is signed in. */
export const client: Client = clientFor(() => savedKey() ?? '');

export const queryClient = new QueryClient({
  // The client itself tries again what may succeed then.
  defaultOptions: { queries: { staleTime: 10_000, retry: false } },
});
