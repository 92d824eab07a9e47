import { FAMILIES, type Family } from '@review/contract';
import type { StoredWorker } from './queries.ts';

/** Runs with the provider, runs in the sandbox, or fails because the provider's settings are not valid. */
export type Ability = 'live' | 'sandbox' | 'refuse';
/** The ability for each family. A missing family cannot be run. */
export type Abilities = ReadonlyMap<Family, Ability>;

interface Allowed {
  /** Whether the sandbox may replace a provider without a key. */
  sandbox: boolean;
}

type Reported = Pick<StoredWorker, 'families'>;

export const withAbility = (abilities: Abilities, wanted: Ability): Family[] =>
  [...abilities].flatMap(([family, ability]) => (ability === wanted ? [family] : []));

/** Returns the combined abilities of these workers. */
export function abilitiesOfAll(workers: readonly Reported[], allowed: Allowed): Abilities {
  const abilities = new Map<Family, Ability>();
  for (const family of FAMILIES) {
    const states = new Set(workers.map((worker) => stateOf(worker, family)));
    if (states.has('live')) abilities.set(family, 'live');
    else if (states.has('sandbox') && allowed.sandbox) abilities.set(family, 'sandbox');
    else if (states.has('misconfigured')) abilities.set(family, 'refuse');
  }
  return abilities;
}

/** Returns the abilities of one worker. It refuses a family only if no other worker can run it. */
export function abilitiesOf(worker: StoredWorker, living: readonly StoredWorker[], allowed: Allowed): Abilities {
  const all = abilitiesOfAll([...living, worker], allowed);
  const own = abilitiesOfAll([worker], allowed);
  return new Map([...own].filter(([family, ability]) => ability !== 'refuse' || all.get(family) === 'refuse'));
}

/** The state of a family on a worker. A family that it did not report has no key there. */
export const stateOf = ({ families }: Reported, family: Family) =>
  families.findLast((reported) => reported.family === family)?.state ?? 'sandbox';
