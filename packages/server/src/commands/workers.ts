import type { FamilyState } from '@review/contract';
import type { ListedWorker, StoredWorker } from '../rooms/workers/queries.ts';

/** Returns the JSON of `review workers`. */
export const toOutput = (worker: ListedWorker) => ({
  name: worker.name,
  version: worker.version,
  families: worker.families,
  refusals: worker.refusals,
  startedAt: worker.started_at,
  seenAt: worker.seen_at,
  alive: worker.alive,
  ageSeconds: worker.age_seconds,
});

/** Formats the families of a worker, such as `live: kling, veo; sandbox: meshy`. */
export function familiesOf({ families }: StoredWorker): string {
  const byState = Map.groupBy(families, ({ state }: FamilyState) => state);
  return [...byState].map(([state, some]) => `${state}: ${some.map(({ family }) => family).join(', ')}`).join('; ');
}
