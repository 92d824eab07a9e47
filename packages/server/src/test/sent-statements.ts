import type { CompiledQuery } from 'kysely';
import { vi } from 'vitest';
import { LookUps } from '../db/look-ups.ts';
import type { Database } from '../db/schema.ts';

/** Returns the statements that a database is sent while the work runs, except those of transactions. */
export async function sentWhile(db: Database, work: () => Promise<unknown>): Promise<CompiledQuery[]> {
  const alone = vi.spyOn(db.getExecutor(), 'executeQuery');
  const together = vi.spyOn(LookUps.prototype, 'add');
  try {
    await work();
    return [...alone.mock.calls, ...together.mock.calls].map(([query]) => query);
  } finally {
    alone.mockRestore();
    together.mockRestore();
  }
}
