import { type FamilyState, instantOf, type ProviderRefusal, type WorkerReport } from '@review/contract';
import type { Selectable } from 'kysely';
import type { Clock } from '../../db/clock.ts';
import { parseJson } from '../../db/json.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';

/** A worker without a heartbeat for this time is dead. Workers send one every five seconds. */
const ALIVE_SECONDS = 30;
/** Dead workers are listed for this time. */
const KEPT_SECONDS = 24 * 60 * 60;

type Row = Selectable<Schema['workers']>;

export type StoredWorker = Omit<Row, 'families' | 'refusals'> & {
  families: FamilyState[];
  refusals: ProviderRefusal[];
};

const parsed = (row: Row): StoredWorker => ({
  ...row,
  families: parseJson(row.families),
  refusals: parseJson(row.refusals),
});

/** Registers a worker that has started, and deletes workers that have been dead for a day. */
export async function insertWorker(trx: Writer, report: WorkerReport, clock: Clock, startedAt: string): Promise<void> {
  await trx.deleteFrom('workers').where('seen_at', '<', clock(-KEPT_SECONDS)).execute();
  await trx.deleteFrom('workers').where('name', '=', report.worker).execute();
  await recordHeartbeat(trx, report, clock, startedAt);
}

/** Stores the report and the time of a heartbeat. A dead worker becomes alive again. */
export async function recordHeartbeat(
  db: Database,
  { worker, version, families, refusals }: WorkerReport,
  clock: Clock,
  at: string,
): Promise<void> {
  const row = {
    version: version ?? null,
    families: JSON.stringify(families),
    refusals: JSON.stringify(refusals ?? []),
    seen_at: clock(),
  };
  await db
    .insertInto('workers')
    .values({ name: worker, started_at: at, ...row })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
    .execute();
}

export async function listLiving(db: Database, clock: Clock): Promise<StoredWorker[]> {
  const rows = await db.selectFrom('workers').selectAll().where('seen_at', '>', clock(-ALIVE_SECONDS)).execute();
  return rows.map(parsed);
}

/** Returns the last report of the worker; one without keys if it has not reported yet. */
export async function findWorker(db: Database, name: string): Promise<StoredWorker> {
  const row = await db.selectFrom('workers').selectAll().where('name', '=', name).executeTakeFirst();
  return row ? parsed(row) : { name, version: null, families: [], refusals: [], started_at: '', seen_at: '' };
}

export interface ListedWorker extends StoredWorker {
  alive: boolean;
  /** Seconds since its last heartbeat. */
  age_seconds: number;
}

/** Returns living workers and those that died within a day, ordered by name. */
export async function listWorkers(db: Database, clock: Clock): Promise<ListedWorker[]> {
  const rows = await db.selectFrom('workers').selectAll().select(clock().as('now')).orderBy('name').execute();
  return rows.map((row) => {
    const age = Math.max(0, Math.round((instantOf(row.now) - instantOf(row.seen_at)) / 1000));
    return { ...parsed(row), alive: age < ALIVE_SECONDS, age_seconds: age };
  });
}
