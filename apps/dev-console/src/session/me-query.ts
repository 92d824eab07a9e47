import { queryOptions } from '@tanstack/react-query';

/** The user id of the session, once a comment that this session posted has revealed it. */
export const meQuery = queryOptions<string | null>({
  queryKey: ['me'],
  queryFn: () => null,
  enabled: false,
  initialData: null,
  gcTime: Number.POSITIVE_INFINITY,
});
