import type { AnyRouter } from '@tanstack/react-router';
import { queryClient } from '../api.ts';
import { reopenAll } from '../live/streams.ts';
import { meQuery } from '../session/me-query.ts';

/** Loads the open page again with a new key. */
export async function resumeSession(router: AnyRouter): Promise<void> {
  reopenAll();
  // The key may be of another person.
  queryClient.setQueryData(meQuery.queryKey, null);
  await router.invalidate();
  await queryClient.invalidateQueries();
}
