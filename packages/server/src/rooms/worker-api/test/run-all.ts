import { randomInt } from 'node:crypto';
import { FAMILIES, type Family, type GenerationTask, type Model, OPEN_GENERATION_STATUSES } from '@review/contract';
import type { Clock } from '../../../db/clock.ts';
import { now } from '../../../db/time.ts';
import type { Deps } from '../../../deps.ts';
import { openDeps } from '../../../open-deps.ts';
import type { House } from '../../../test/house.ts';
import { endFile } from '../../generation/end.ts';
import { lockHeld } from '../../generation/queries.ts';
import { type Holder, takeTasks } from '../../generation/slots.ts';
import { emptyQueue, queueMany } from '../../generation/test/generations.ts';

/** Separate connections; on SQLite those of the house, because its lock blocks the whole process. */
export function connections(house: House): { deps: Deps } & AsyncDisposable {
  if (house.dialect === 'sqlite') return { deps: house.deps, [Symbol.asyncDispose]: async () => {} };
  const deps = openDeps(house.deps.config, house.deps.log);
  return { deps, [Symbol.asyncDispose]: () => deps[Symbol.asyncDispose]() };
}

/** A worker without keys. */
export const keyless = (owner: string, clock: Clock): Holder => ({
  engine: 'embedded',
  owner,
  leaseUntil: clock(30),
  abilities: new Map(FAMILIES.map((family) => [family, 'sandbox'])),
});

type Counts = Partial<Record<Family, number>>;

/**
 * Lets several workers with separate connections claim and end all generations in random order. Returns the maximum of
 * concurrent generations of a family, and the maximum of others that ended while a family below its cap had none claimed.
 */
export async function runAll(house: House, models: (Model | undefined)[], workers: number, cap: number) {
  await emptyQueue(house);
  const wanted = models.flatMap((model) => model ?? []);
  await queueMany(house, wanted);
  const left: Counts = {};
  for (const { family } of wanted) left[family] = (left[family] ?? 0) + 1;
  const most: Counts = {};
  const waited: Counts = {};
  const held: Counts = {};
  /** When the family last got a generation, or a free place below its cap. */
  const lastAt: Counts = {};
  let ended = 0;

  const countFlights = async () => {
    const rows = await house.deps.db
      .selectFrom('generations')
      .select((eb) => ['family', eb.fn.countAll<number>().as('count')])
      .where('status', 'in', OPEN_GENERATION_STATUSES)
      .where('engine', 'is not', null)
      .groupBy('family')
      .execute();
    for (const { family, count } of rows) most[family] = Math.max(most[family] ?? 0, count);
  };
  const noteGiven = ({ family }: GenerationTask) => {
    waited[family] = Math.max(waited[family] ?? 0, ended - (lastAt[family] ?? 0));
    lastAt[family] = ended;
    left[family] = (left[family] ?? 0) - 1;
    held[family] = (held[family] ?? 0) + 1;
  };
  const noteEnded = ({ family }: GenerationTask) => {
    ended += 1;
    if (held[family] === cap) lastAt[family] = ended;
    held[family] = (held[family] ?? 0) - 1;
  };
  const worker = async (name: string) => {
    await using connected = connections(house);
    const { deps } = connected;
    const holding: GenerationTask[] = [];
    while (ended < wanted.length) {
      if (holding.length === 0 || randomInt(2) === 0) {
        const holder = keyless(name, deps.clock);
        const tasks = await takeTasks(deps.db, holder, deps.config.generation, randomInt(1, 8), deps.clock());
        tasks.forEach(noteGiven);
        holding.push(...tasks);
        await countFlights();
      }
      const [task] = holding.splice(randomInt(Math.max(1, holding.length)), 1);
      if (task === undefined) continue;
      await deps.db.transaction().execute(async (trx) => {
        const row = await lockHeld(trx, task.fileId, task.epoch);
        if (row === undefined) throw new Error(`${task.fileId} was lost under a lease that runs`);
        await endFile(trx, row, { status: 'CANCELED' }, now());
      });
      noteEnded(task);
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, index) => worker(`box:${index}`)));
  return { most, waited, left };
}
