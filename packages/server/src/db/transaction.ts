import { SqliteAdapter } from 'kysely';
import { type GroupCommit, groupCommit } from './group-commit.ts';
import type { Database, Writer } from './schema.ts';

const MAX_ATTEMPTS = 5;
/** The codes of Postgres for a deadlock and a serialization failure. */
const RETRYABLE = new Set(['40P01', '40001']);

const groups = new WeakMap<Database, GroupCommit>();

/** Runs the work in a transaction: in a group on SQLite; on Postgres again after a deadlock or a serialization failure. */
export async function inTransaction<T>(db: Database, work: (trx: Writer) => Promise<T>): Promise<T> {
  if (db.getExecutor().adapter instanceof SqliteAdapter) return groupOf(db)(work);
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      const isRetryable = error instanceof Error && 'code' in error && RETRYABLE.has(String(error.code));
      if (!isRetryable || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}

function groupOf(db: Database): GroupCommit {
  const group = groups.get(db) ?? groupCommit(db);
  groups.set(db, group);
  return group;
}
