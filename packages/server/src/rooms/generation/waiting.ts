import type { Family, Provider, WaitingFor } from '@review/contract';
import type { Config } from '../../config/config.ts';
import type { Deps } from '../../deps.ts';
import { type Abilities, abilitiesOfAll } from '../workers/abilities.ts';
import { listAvailable } from '../workers/queries.ts';
import { listPaused } from './paused-families.ts';
import type { StoredGeneration } from './queries.ts';
import { countHeld, slotOf } from './slots.ts';

export type QueueDeps = Pick<Deps, 'db' | 'clock'> & { config: Pick<Config, 'generation'> };

/** Returns the reasons why generations wait, without those that do not wait or are about to start. */
export async function findWaitingReasons(
  { db, clock, config }: QueueDeps,
  generations: StoredGeneration[],
): Promise<Map<string, WaitingFor>> {
  const queued = generations.filter(({ status }) => status === 'QUEUED');
  if (queued.length === 0) return new Map();
  const { slots, familyCaps } = config.generation;
  const abilities = abilitiesOfAll(await listAvailable(db, clock), config.generation);
  const paused = new Set((await listPaused(db)).map(({ family }) => family));
  const { ofFamily, ofSlot } = await countHeld(db);
  const reasonOf = (generation: StoredGeneration): WaitingFor | null => {
    const { workspace_id: workspaceId, output_type: outputType, family, promised, engine } = generation;
    if (engine === null && paused.has(family)) return 'PAUSED';
    if (!hasWorker(abilities, family, promised)) return 'WORKER';
    if (engine !== null) return null;
    if ((ofSlot.get(slotOf(workspaceId, outputType)) ?? 0) >= slots[outputType]) return 'SLOT';
    return (ofFamily.get(family) ?? 0) >= familyCaps[family] ? 'FAMILY_CAP' : null;
  };
  return new Map(
    queued.flatMap((generation) => {
      const reason = reasonOf(generation);
      return reason === null ? [] : [[generation.file_id, reason] as const];
    }),
  );
}

/** Whether a living worker can run it with the promised provider. */
function hasWorker(abilities: Abilities, family: Family, promised: Provider): boolean {
  const ability = abilities.get(family);
  return ability === 'live' || (ability !== undefined && promised === 'sandbox');
}

interface FamilyQueue {
  family: Family;
  depth: number;
  oldestAt: string;
  /** The number of generations that no living worker can run. */
  withoutWorker: number;
}

/** Returns the queue of each family with queued generations. */
export async function listQueues({ db, clock, config }: QueueDeps): Promise<FamilyQueue[]> {
  const rows = await db
    .selectFrom('generations')
    .select((eb) => ['family', 'promised', eb.fn.countAll<number>().as('depth'), eb.fn.min('queued_at').as('oldest')])
    .where('status', '=', 'QUEUED')
    .groupBy(['family', 'promised'])
    .execute();
  if (rows.length === 0) return [];
  const abilities = abilitiesOfAll(await listAvailable(db, clock), config.generation);
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
  return [...Map.groupBy(rows, ({ family }) => family)].map(([family, lines]) => ({
    family,
    depth: sum(lines.map(({ depth }) => depth)),
    oldestAt: lines.map(({ oldest }) => oldest).toSorted()[0] ?? '',
    withoutWorker: sum(lines.map(({ promised, depth }) => (hasWorker(abilities, family, promised) ? 0 : depth))),
  }));
}
