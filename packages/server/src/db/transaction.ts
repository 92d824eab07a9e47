import type { Database, Writer } from './schema.ts';

const MAX_ATTEMPTS = 5;
const DEADLOCK = '40P01';
const SERIALIZATION_FAILURE = '40001';
/** A prepared statement returns other columns since a migration. Postgres has no code of its own for it. */
const OUTDATED_PLAN = '0A000';
const RETRYABLE = new Set([DEADLOCK, SERIALIZATION_FAILURE, OUTDATED_PLAN]);

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

export const isOutdatedPlan = (error: unknown): boolean => codeOf(error) === OUTDATED_PLAN;

/** Runs the work in a transaction and retries it after a failure that another attempt can avoid. */
export async function inTransaction<T>(db: Database, work: (trx: Writer) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (!RETRYABLE.has(String(codeOf(error))) || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}
