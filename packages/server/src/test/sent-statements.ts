import type { CompiledQuery } from 'kysely';
import { vi } from 'vitest';
import { DirectReads } from '../db/direct-reads.ts';
import { LookUps } from '../db/look-ups.ts';
import type { Database } from '../db/schema.ts';

/** Returns the statements that a database is sent while the work runs, except those of transactions. */
export async function sentWhile(db: Database, work: () => Promise<unknown>): Promise<CompiledQuery[]> {
  const queued = vi.spyOn(db.getExecutor(), 'executeQuery');
  const direct = vi.spyOn(DirectReads.prototype, 'read');
  const together = vi.spyOn(LookUps.prototype, 'add');
  try {
    await work();
    const answered = direct.mock.calls.filter((_, call) => direct.mock.results[call]?.value !== undefined);
    return [...queued.mock.calls, ...answered, ...together.mock.calls].map(([query]) => query);
  } finally {
    for (const spy of [queued, direct, together]) spy.mockRestore();
  }
}
