import { expect, inject } from 'vitest';
import { eventually, TIMED } from '../test/eventually.ts';
import { json, openHouse, postgresTest } from '../test/house.ts';
import { createDatabase } from '../test/postgres.ts';
import { problemIn } from '../test/problem-in.ts';
import { wireTo } from '../test/wire.ts';
import { openDatabase } from './open.ts';

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
