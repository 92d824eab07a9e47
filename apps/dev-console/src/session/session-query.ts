import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { client } from '../api.ts';

/** The workspace and the scopes of the API key. */
export const sessionQuery = queryOptions({
  queryKey: ['ping'],
  queryFn: async ({ signal }) => (await client.ping.ping({}, { signal })).data,
  staleTime: 60_000,
});

export const useSession = () => useSuspenseQuery(sessionQuery).data;
