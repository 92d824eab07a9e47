import { type GroupCommit, groupCommit } from './group-commit.ts';
import { isPostgres } from './prepared.ts';
import type { Database, Writer } from './schema.ts';

const MAX_ATTEMPTS = 5;
const DEADLOCK = '40P01';
const SERIALIZATION_FAILURE = '40001';
/** A prepared statement returns other columns since a migration. Postgres has no code of its own for it. */
const OUTDATED_PLAN = '0A000';
const RETRYABLE = new Set([DEADLOCK, SERIALIZATION_FAILURE, OUTDATED_PLAN]);

const groups = new WeakMap<Database, GroupCommit>();

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

export const isOutdatedPlan = (error: unknown): boolean => codeOf(error) === OUTDATED_PLAN;

/** Runs the work in a transaction: in a group on SQLite; on Postgres again after a failure that another attempt can avoid. */
export async function inTransaction<T>(db: Database, work: (trx: Writer) => Promise<T>): Promise<T> {
  if (!isPostgres(db)) return groupOf(db)(work);
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (!RETRYABLE.has(String(codeOf(error))) || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}

/** Runs a single statement that changes rows. On Postgres it needs no transaction, and so two round trips less. */
export const inStatement = <T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> =>
  isPostgres(db) ? work(db) : inTransaction(db, work);

function groupOf(db: Database): GroupCommit {
  const group = groups.get(db) ?? groupCommit(db);
  groups.set(db, group);
  return group;
}
