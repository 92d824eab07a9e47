import { type RawBuilder, sql } from 'kysely';
import { expect, test } from 'vitest';
import { lockProject } from '../rooms/visibility.ts';
import { onEachDatabase } from '../test/house.ts';
import type { Database } from './schema.ts';
import { inTransaction } from './transaction.ts';

async function read(db: Database, number: RawBuilder<number>): Promise<number | undefined> {
  const { rows } = await sql<{ number: number }>`select ${number} as number`.execute(db);
  return rows[0]?.number;
}

const waitingSessions = sql<number>`(select count(*) from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock')`;

onEachDatabase((house) => {
  test('a change of a locked row waits until the transaction ends', async () => {
    const { dialect, deps, projectId } = house();
    const ended: string[] = [];
    let changing: Promise<unknown> = Promise.resolve();
    await inTransaction(deps.db, async (trx) => {
      await lockProject(trx, projectId);
      // Postgres gets the lock with the next statement.
      await read(trx, sql`1`);
      changing = inTransaction(deps.db, (other) =>
        other.updateTable('projects').set({ name: 'B' }).where('id', '=', projectId).execute(),
      ).then(() => ended.push('change'));
      if (dialect === 'postgres') await expect.poll(() => read(deps.db, waitingSessions)).toBe(1);
      ended.push('lock');
    });
    await changing;
    expect(ended).toEqual(['lock', 'change']);
  });

  test('a lock writes no version of the row', async () => {
    const { dialect, deps, projectId } = house();
    const version =
      dialect === 'postgres'
        ? sql<number>`(select cast(cast(xmin as text) as bigint) from projects where id = ${projectId})`
        : sql<number>`total_changes()`;
    await inTransaction(deps.db, async (trx) => {
      const before = await read(trx, version);
      await lockProject(trx, projectId);
      expect(await read(trx, version)).toBe(before);
    });
  });
});
