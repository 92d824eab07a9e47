import { sql } from 'kysely';
import { expect, inject } from 'vitest';
import { TIMED } from '../test/eventually.ts';
import { openHouse, postgresTest } from '../test/house.ts';
import { createDatabase } from '../test/postgres.ts';
import { openDatabase, withoutTimeouts } from './open.ts';
import { type Param, prepared } from './prepared.ts';

postgresTest('/readyz stays 200 while every connection of the pool is in use', TIMED, async () => {
  await using house = await openHouse('postgres', { DATABASE_CONNECTIONS: '1' });
  const status = await house.deps.db
    .transaction()
    .execute(async () => (await house.request(null, 'GET', '/readyz')).status);
  expect(status).toBe(200);
});

postgresTest('the timeouts apply to every connection except those without timeouts', async () => {
  await using house = await openHouse('postgres');
  const timeout = sql<{ statement_timeout: string }>`show statement_timeout`;
  const limited = await timeout.execute(house.deps.db);
  const unlimited = await withoutTimeouts(house.deps.opened, (db) => timeout.execute(db));
  expect([limited.rows[0]?.statement_timeout, unlimited.rows[0]?.statement_timeout]).toEqual(['15s', '0']);
});

postgresTest('Postgres plans for a solid-state disk, unless the operator has chosen otherwise', async () => {
  await using database = await createDatabase(inject('postgresUrl'));
  const showCost = async () => {
    await using opened = openDatabase({ dialect: 'postgres', url: database.url, connections: 1 }, () => {});
    const { rows } = await sql<{ random_page_cost: string }>`show random_page_cost`.execute(opened.db);
    const name = new URL(database.url).pathname.slice(1);
    await sql`alter database ${sql.id(name)} set random_page_cost = 3`.execute(opened.db);
    return rows[0]?.random_page_cost;
  };
  expect([await showCost(), await showCost()]).toEqual(['1.1', '3']);
});

postgresTest('a transaction with a statement that fails changes nothing, and its connection works on', async () => {
  await using database = await createDatabase(inject('postgresUrl'));
  await using opened = openDatabase({ dialect: 'postgres', url: database.url, connections: 1 }, () => {});
  const insert = prepared.run((db, key: Param<string>) =>
    db.insertInto('pending_blob_deletions').values({ storage_key: key, scheduled_at: '2026-01-01 00:00:00.000000' }),
  );
  const postpone = prepared.run((db, key: Param<string>) =>
    db.updateTable('pending_blob_deletions').set({ scheduled_at: '2027' }).where('storage_key', '=', key),
  );
  const list = prepared(
    (db) => db.selectFrom('pending_blob_deletions').select('storage_key').orderBy('storage_key'),
    (rows) => rows.map((row) => row.storage_key),
  );
  const write = (keys: string[], end: (db: typeof opened.db) => Promise<unknown> = async () => {}) =>
    opened.db.transaction().execute(async (trx) => {
      for (const key of keys) await insert(trx, key);
      return end(trx);
    });
  const twice = /duplicate key value/;

  // Each time before and after the connection has prepared the statements.
  await expect(write(['a', 'a'], (trx) => postpone(trx, 'a'))).rejects.toThrow(twice);
  await expect(write(['a', 'a'], (trx) => postpone(trx, 'a'))).rejects.toThrow(twice);
  await expect(write(['a', 'a'], list)).rejects.toThrow(twice);
  expect(await write(['a'], list)).toEqual(['a']);
  await expect(write(['b', 'a'], list)).rejects.toThrow(twice);
  await expect(write(['b', 'a'], (trx) => sql`select 1`.execute(trx))).rejects.toThrow(twice);
  await write(['b'], (trx) => postpone(trx, 'b'));
  for (let times = 0; times < 2; times++) await expect(insert(opened.db, 'a')).rejects.toThrow(twice);
  await expect(
    write([], async () => {
      throw new Error('nothing was sent');
    }),
  ).rejects.toThrow('nothing was sent');
  await expect(
    write(['c'], async () => {
      throw new Error('not sent yet');
    }),
  ).rejects.toThrow('not sent yet');
  expect(await list(opened.db)).toEqual(['a', 'b']);
  // Each statement is prepared once, however often it fails.
  const { rows } = await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(opened.db);
  const texts = rows.map(({ statement }) => statement);
  expect(texts.toSorted()).toEqual([...new Set(texts)].toSorted());
  expect(texts).toHaveLength(5);
});
