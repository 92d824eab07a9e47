import type { AnyRouter } from '@tanstack/react-router';
import { queryClient } from '../api.ts';
import { reopenAll } from '../live/streams.ts';

/** Loads the open page again with a new key. */
export async function resumeSession(router: AnyRouter): Promise<void> {
  reopenAll();
  await router.invalidate();
  await queryClient.invalidateQueries();
}
