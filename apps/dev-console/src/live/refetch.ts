import type { Query, QueryKey } from '@tanstack/react-query';
import { queryClient } from '../api.ts';
import { changeOf } from '../api-mutation.ts';

/** Changes within this time share one refetch. */
const COALESCE_MS = 50;
/** After some refetches in a row a query waits, because the service allows 100 reads of a list per minute. */
const BURST = 20;
const SPACING_MS = 2000;

/** When the next refetch of a query is due at an even pace. */
const paced = new WeakMap<Query, number>();
const scheduled = new Map<Query, Promise<void>>();

/** Refetches the queries with these keys, if they are shown; others when they are shown next. */
export async function refetch(keys: readonly QueryKey[]): Promise<void> {
  const cache = queryClient.getQueryCache();
  await Promise.all(keys.flatMap((queryKey) => cache.findAll({ queryKey }).map(schedule)));
}

function schedule(query: Query): Promise<void> {
  query.invalidate();
  if (!query.isActive()) return Promise.resolve();
  const known = scheduled.get(query);
  if (known !== undefined) return known;
  const now = performance.now();
  const due = Math.max(now, paced.get(query) ?? 0);
  paced.set(query, due + SPACING_MS);
  const delay = Math.max(COALESCE_MS, due - BURST * SPACING_MS - now);
  const refetched = new Promise((resolve) => setTimeout(resolve, delay)).then(() => run(query));
  scheduled.set(query, refetched);
  return refetched;
}

async function run(query: Query): Promise<void> {
  // The response of a request under way may be older than the change. To cancel it could lose the next page of a list.
  if (query.state.fetchStatus === 'fetching') {
    await query.promise?.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve));
  }
  scheduled.delete(query);
  const { queryKey } = query;
  // Refetched data would lack the optimistic update of a pending change, which itself refetches at its end.
  if (queryClient.isMutating({ mutationKey: changeOf(queryKey) }) > 0) return;
  await queryClient.refetchQueries({ queryKey, exact: true, type: 'active' });
}
