import { FAMILIES, type Family } from '@review/contract';
import type { StoredWorker } from './queries.ts';

/** Uses the vendor; makes it in the sandbox; or fails it with the reason why its settings cannot work. */
export type Ability = 'live' | 'sandbox' | 'refuse';
/** What can be done of each family; a family that is missing cannot be done at all. */
export type Abilities = ReadonlyMap<Family, Ability>;

interface Allowed {
  /** Whether the sandbox may stand in. */
  sandbox: boolean;
}

export const withAbility = (abilities: Abilities, wanted: Ability): Family[] =>
  [...abilities].flatMap(([family, ability]) => (ability === wanted ? [family] : []));

/** What these workers can do between them. */
export function abilitiesOfAll(workers: readonly StoredWorker[], allowed: Allowed): Abilities {
  const abilities = new Map<Family, Ability>();
  for (const family of FAMILIES) {
    const states = new Set(workers.map((worker) => stateOf(worker, family)));
    if (states.has('live')) abilities.set(family, 'live');
    else if (states.has('sandbox') && allowed.sandbox) abilities.set(family, 'sandbox');
    else if (states.has('misconfigured')) abilities.set(family, 'refuse');
  }
  return abilities;
}

/** What one worker can do beside the others: it refuses only where no other could do better. */
export function abilitiesOf(worker: StoredWorker, living: readonly StoredWorker[], allowed: Allowed): Abilities {
  const all = abilitiesOfAll([...living, worker], allowed);
  const own = abilitiesOfAll([worker], allowed);
  return new Map([...own].filter(([family, ability]) => ability !== 'refuse' || all.get(family) === 'refuse'));
}

/** A worker that said nothing of a family has no key for it. */
export const stateOf = ({ families }: StoredWorker, family: Family) =>
  families.findLast((reported) => reported.family === family)?.state ?? 'sandbox';
