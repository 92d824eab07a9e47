import type { FamilyState } from '@review/contract';
import type { Command } from 'commander';
import { clockOf } from '../db/clock.ts';
import { now } from '../db/time.ts';
import { inTransaction } from '../db/transaction.ts';
import { countLeases } from '../rooms/generation/slots.ts';
import { type ListedWorker, listWorkers, type StoredWorker, setDraining } from '../rooms/workers/queries.ts';
import { recordAct } from './audit.ts';
import type { Data } from './data.ts';
import { CommandError, type Output, table } from './output.ts';

/** `workers`, `workers drain` and `workers resume`. */
export function addWorkerCommands(review: Command, { withDatabase }: Data, output: Output): void {
  const workers = review
    .command('workers')
    .description('list the workers with a heartbeat within the last day, and the families of each')
    .action(() =>
      withDatabase(async ({ db, dialect }, { engine }) => {
        // Temporal alone knows which worker runs a step.
        const leases = engine === 'embedded' ? await countLeases(db) : null;
        const listed = (await listWorkers(db, clockOf(dialect))).map((worker) => ({
          ...worker,
          holds: leases && (leases.get(worker.name) ?? 0),
        }));
        const rows = listed.map((worker) => [
          worker.name,
          stateOf(worker),
          `${worker.age_seconds} s ago`,
          worker.started_at,
          worker.version ?? '-',
          String(worker.holds ?? '-'),
          familiesOf(worker),
        ]);
        const headings = ['WORKER', 'STATE', 'SEEN', 'STARTED', 'VERSION', 'HOLDS', 'FAMILIES'];
        output.show(listed.map(toOutput), table(headings, rows));
      }),
    );

  workers
    .command('drain')
    .description('let a worker take no new work and finish what it has; the worker keeps running')
    .argument('<name>', 'the name of the worker')
    .action((name: string) =>
      withDatabase(async ({ db }, { engine }) => {
        await inTransaction(db, async (trx) => {
          if (!(await setDraining(trx, name, now()))) throw noWorker(name);
          await recordAct(trx, { act: 'worker.drained', subjectId: name });
        });
        output.show({ name }, `${name} is draining. ${engine === 'embedded' ? WHEN_EMBEDDED : WHEN_TEMPORAL}`);
      }),
    );

  workers
    .command('resume')
    .description('let a draining worker take work again; a restart of the worker does the same')
    .argument('<name>', 'the name of the worker')
    .action((name: string) =>
      withDatabase(async ({ db }) => {
        await inTransaction(db, async (trx) => {
          if (!(await setDraining(trx, name, null))) throw noWorker(name);
          await recordAct(trx, { act: 'worker.resumed', subjectId: name });
        });
        output.show({ name }, `${name} takes work again.`);
      }),
    );
}

const noWorker = (name: string) => new CommandError(`There is no worker ${name}.`);

const WHEN_EMBEDDED = 'Stop it when `review workers` shows that it holds 0 generations.';
const WHEN_TEMPORAL = 'Stop it when its log says that it is drained.';

const stateOf = ({ alive, draining_since }: ListedWorker): string =>
  alive ? (draining_since === null ? 'alive' : 'draining') : 'dead';

const toOutput = (worker: ListedWorker & { holds: number | null }) => ({
  name: worker.name,
  version: worker.version,
  families: worker.families,
  refusals: worker.refusals,
  startedAt: worker.started_at,
  seenAt: worker.seen_at,
  alive: worker.alive,
  ageSeconds: worker.age_seconds,
  drainingSince: worker.draining_since,
  holds: worker.holds,
});

/** Formats the families of a worker, such as `live: kling, veo; sandbox: meshy`. */
function familiesOf({ families }: StoredWorker): string {
  const byState = Map.groupBy(families, ({ state }: FamilyState) => state);
  return [...byState].map(([state, some]) => `${state}: ${some.map(({ family }) => family).join(', ')}`).join('; ');
}
