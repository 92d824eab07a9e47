import { type FamilyState, instantOf, type ProviderRefusal, type WorkerReport } from '@review/contract';
import { type Selectable, sql } from 'kysely';
import { type Clock, type Moment, timeOf } from '../../db/clock.ts';
import { parseJson } from '../../db/json.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
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

const deleteDead = prepared.run((db, { before }: Params<{ before: Moment }>) =>
  db.deleteFrom('workers').where('seen_at', '<', timeOf(db, before)),
);

const deleteWorker = prepared.run((db, name: Param<string>) => db.deleteFrom('workers').where('name', '=', name));

/** Registers a worker that has started, and deletes workers that have been dead for a day. */
export async function insertWorker(trx: Writer, report: WorkerReport, clock: Clock, startedAt: string): Promise<void> {
  await deleteDead(trx, { before: clock(-KEPT_SECONDS) });
  await deleteWorker(trx, report.worker);
  await recordHeartbeat(trx, report, clock, startedAt);
}

type Heartbeat = Omit<Row, 'seen_at' | 'draining_since'> & { seen_at: Moment };

const upsertWorker = prepared.one((db, { name, started_at, seen_at, ...report }: Params<Heartbeat>) => {
  const row = { ...report, seen_at: timeOf(db, seen_at) };
  return db
    .insertInto('workers')
    .values({ name, started_at, ...row })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
    .returning('draining_since');
});

/** Stores the report and the time of a heartbeat. A dead worker becomes alive again. Returns since when it takes no new work. */
export const recordHeartbeat = (
  db: Database,
  { worker, version, families, refusals }: WorkerReport,
  clock: Clock,
  at: string,
) =>
  upsertWorker(db, {
    name: worker,
    started_at: at,
    version: version ?? null,
    families: JSON.stringify(families),
    refusals: JSON.stringify(refusals ?? []),
    seen_at: clock(),
  });

const findSeen = prepared(
  (db, { after }: Params<{ after: Moment }>) =>
    db.selectFrom('workers').selectAll().where('seen_at', '>', timeOf(db, after)),
  (rows) => rows.map(parsed),
);

/** A worker with a heartbeat after it is alive. */
export const aliveSince = (clock: Clock): Moment => clock(-ALIVE_SECONDS);

export const listLiving = (db: Database, clock: Clock) => findSeen(db, { after: aliveSince(clock) });

/** Returns the living workers that take new work. */
export const listAvailable = async (db: Database, clock: Clock) =>
  (await listLiving(db, clock)).filter(({ draining_since }) => draining_since === null);

const findDraining = prepared.exists((db, name: Param<string>) =>
  db.selectFrom('workers').select('name').where('name', '=', name).where('draining_since', 'is not', null),
);

/** Whether the worker takes no new work. Workers of earlier releases do not name themselves in all claims. */
export const isDraining = async (db: Database, name: string | undefined): Promise<boolean> =>
  name !== undefined && (await findDraining(db, name));

/** Starts or, with null, ends the drain of a worker. Returns false if there is no such worker. */
export async function setDraining(db: Database, name: string, since: string | null): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('workers')
    .set((eb) => ({ draining_since: since && eb.fn.coalesce('draining_since', eb.val(since)) }))
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

const findSeenOrNamed = prepared(
  (db, { after, name }: Params<{ after: Moment; name: string }>) =>
    db
      .selectFrom('workers')
      .selectAll()
      .where((eb) => eb.or([eb('seen_at', '>', timeOf(db, after)), eb('name', '=', name)])),
  (rows) => rows.map(parsed),
);

/** Returns the last report of the worker, without keys if it has not reported yet, and the living workers. */
export async function findWithLiving(
  db: Database,
  clock: Clock,
  name: string,
): Promise<{ worker: StoredWorker; living: StoredWorker[] }> {
  const living = await findSeenOrNamed(db, { after: aliveSince(clock), name });
  const unknown = {
    name,
    version: null,
    families: [],
    refusals: [],
    started_at: '',
    seen_at: '',
    draining_since: null,
  };
  return { worker: living.find((worker) => worker.name === name) ?? unknown, living };
}

export interface ListedWorker extends StoredWorker {
  alive: boolean;
  /** Seconds since its last heartbeat. */
  age_seconds: number;
}

/** Returns living workers and those that died within a day, ordered by name. */
export async function listWorkers(db: Database, clock: Clock): Promise<ListedWorker[]> {
  const rows = await db
    .selectFrom('workers')
    .selectAll()
    .select(sql<string>`${clock()}`.as('now'))
    .orderBy('name')
    .execute();
  return rows.map((row) => {
    const age = Math.max(0, Math.round((instantOf(row.now) - instantOf(row.seen_at)) / 1000));
    return { ...parsed(row), alive: age < ALIVE_SECONDS, age_seconds: age };
  });
}
