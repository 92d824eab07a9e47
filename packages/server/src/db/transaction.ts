import type { Database, Writer } from './schema.ts';

const MAX_ATTEMPTS = 5;
/** The codes of Postgres for a deadlock and a serialization failure. */
const RETRYABLE = new Set(['40P01', '40001']);

/** Runs the work in a transaction and retries it after a deadlock or a serialization failure. */
export async function inTransaction<T>(db: Database, work: (trx: Writer) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      const isRetryable = error instanceof Error && 'code' in error && RETRYABLE.has(String(error.code));
      if (!isRetryable || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}
