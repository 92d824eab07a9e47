import { ApiProblem, type Client, createClient } from '@review/client';
import { keepPreviousData, QueryClient } from '@tanstack/react-query';
import { savedKey } from './session.ts';

const baseUrl = window.location.origin;

/** The whole service, as whoever is signed in. */
export const client: Client = createClient({ baseUrl, token: () => savedKey() ?? '' });

export const clientFor = (key: string): Client => createClient({ baseUrl, token: key });

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      placeholderData: keepPreviousData,
      // A refusal stays one; only a service that could not be reached is asked again.
      retry: (failures, error) => failures < 2 && (!(error instanceof ApiProblem) || error.status >= 502),
    },
  },
});
