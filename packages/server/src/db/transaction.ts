import type { Database, Writer } from './schema.ts';

const MOST_TRIES = 5;
/** Postgres picked this transaction to end a deadlock or a conflict: done again, it goes through. */
const PASSING = new Set(['40P01', '40001']);

/** One transaction, begun again where the database asks for it. */
export async function inTransaction<T>(db: Database, work: (trx: Writer) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      const passing = error instanceof Error && 'code' in error && PASSING.has(String(error.code));
      if (!passing || tries >= MOST_TRIES) throw error;
    }
  }
}
