import { FAMILIES, type FamilyState } from '@review/contract';
import { abilitiesOfAll, stateOf } from '../rooms/workers/abilities.ts';
import type { ListedWorker, StoredWorker } from '../rooms/workers/queries.ts';

/** Returns the state of each family on the living workers, and the last refusal of a key or balance by its provider. */
export function providersOf(workers: readonly ListedWorker[], allowed: { sandbox: boolean }) {
  const living = workers.filter(({ alive }) => alive);
  const abilities = abilitiesOfAll(living, allowed);
  return FAMILIES.map((family) => {
    const state = STATES[abilities.get(family) ?? (living.length > 0 ? 'unable' : 'alone')];
    const faulty = living
      .flatMap(({ families }) => families)
      .findLast((reported) => reported.family === family && reported.state === 'misconfigured');
    const refusals = workers.flatMap(({ name, refusals }) =>
      refusals.flatMap((refusal) => (refusal.family === family ? [{ ...refusal, worker: name }] : [])),
    );
    return {
      family,
      state,
      reason: faulty?.reason ?? null,
      workers: living.flatMap((worker) => (stateOf(worker, family) === state ? [worker.name] : [])),
      refusal: refusals.toSorted((one, other) => one.at.localeCompare(other.at)).at(-1) ?? null,
    };
  });
}

const STATES = {
  live: 'live',
  sandbox: 'sandbox',
  refuse: 'misconfigured',
  unable: 'no key',
  alone: 'no worker',
} as const;

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
