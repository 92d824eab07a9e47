import { sql } from 'kysely';
import { expect, inject } from 'vitest';
import { eventually, TIMED } from '../test/eventually.ts';
import { json, openHouse, postgresTest } from '../test/house.ts';
import { createDatabase } from '../test/postgres.ts';
import { problemIn } from '../test/problem-in.ts';
import { wireTo } from '../test/wire.ts';
import { openDatabase, withoutTimeouts } from './open.ts';
import { type Param, prepared } from './prepared.ts';

postgresTest.each(['DATABASE_STATEMENT_SECONDS', 'DATABASE_LOCK_SECONDS'])(
  'a request that waits for a lock longer than %s is 503 with Retry-After, and works after the lock is released',
  async (setting) => {
    await using house = await openHouse('postgres', { [setting]: '1', LOG_LEVEL: 'silent' });
    await using beside = openDatabase({ dialect: 'postgres', url: house.databaseUrl, connections: 1 }, () => {});
    const rename = () => house.request('owner', 'PATCH', `/api/projects/${house.projectId}`, json({ name: 'B' }));
    const answer = await beside.db.transaction().execute(async (trx) => {
      await trx.updateTable('projects').set({ deadline: null }).where('id', '=', house.projectId).execute();
      return rename();
    });
    await problemIn(answer, 'NOT_READY');
    expect(answer.headers.get('retry-after')).toBe('1');
    expect((await rename()).status).toBe(204);
  },
);

postgresTest('the lock of a lost client is released after DATABASE_IDLE_TRANSACTION_SECONDS', async () => {
  await using house = await openHouse('postgres', { DATABASE_IDLE_TRANSACTION_SECONDS: '1', LOG_LEVEL: 'silent' });
  await using wire = await wireTo(house.databaseUrl);
  const { address } = house.deps.opened;
  if (address.dialect !== 'postgres') throw new Error('the house is not on Postgres');
  await using lost = openDatabase({ ...address, url: wire.url, connections: 1 }, () => {});
  const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>();
  const { promise: isOver, resolve: over } = Promise.withResolvers<void>();
  const lostWork = lost.db.transaction().execute(async (trx) => {
    await trx.updateTable('projects').set({ name: 'Lost' }).where('id', '=', house.projectId).execute();
    locked();
    await isOver;
  });
  await isLocked;
  wire.stall();

  const answer = await house.request('owner', 'PATCH', `/api/projects/${house.projectId}`, json({ name: 'B' }));
  expect(answer.status).toBe(204);
  await wire.cut();
  over();
  await expect(lostWork).rejects.toThrow();
  const { data } = await house.people.owner.client.projects.get({ params: { id: house.projectId } });
  expect(data.name).toBe('B');
});

postgresTest(
  'while Postgres stalls, /readyz is 503 within a second and requests are 503 in bounded time; afterwards both recover',
  TIMED,
  async () => {
    await using database = await createDatabase(inject('postgresUrl'));
    await using wire = await wireTo(database.url);
    await using house = await openHouse('postgres', {
      DATABASE_URL: wire.url,
      DATABASE_STATEMENT_SECONDS: '1',
      DATABASE_CONNECT_SECONDS: '1',
      LOG_LEVEL: 'silent',
    });
    const ready = async () => (await house.request(null, 'GET', '/readyz')).status;
    expect(await ready()).toBe(200);
    wire.stall();
    const ping = house.request('stranger', 'GET', '/api/ping');
    for (let probes = 0; probes < 10; probes += 1) {
      const asked = performance.now();
      expect(await ready()).toBe(503);
      expect(performance.now() - asked).toBeLessThan(1000);
    }
    await problemIn(await ping, 'NOT_READY');
    wire.resume();
    await eventually(async () => (await ready()) === 200, 'ready again');
    expect((await house.request('stranger', 'GET', '/api/ping')).status).toBe(200);
  },
);

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
