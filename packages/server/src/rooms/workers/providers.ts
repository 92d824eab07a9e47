import { FAMILIES } from '@review/contract';
import { abilitiesOfAll, stateOf } from './abilities.ts';
import type { ListedWorker } from './queries.ts';

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
