import pg from 'pg';
import { afterEach, expect, inject, vi } from 'vitest';
import { postgresTest } from '../test/house.ts';
import { createDatabase } from '../test/postgres.ts';
import { KeptConnections } from './kept-connections.ts';

afterEach(() => {
  vi.useRealTimers();
});

async function openConnections(max: number, options: pg.PoolConfig = {}) {
  const database = await createDatabase(inject('postgresUrl'));
  const pool = new pg.Pool({ connectionString: database.url, max, ...options });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const connections = new KeptConnections(pool);
  return {
    pool,
    connections,
    async [Symbol.asyncDispose]() {
      await connections.end();
      await database[Symbol.asyncDispose]();
    },
  };
}

const backendOf = async (client: pg.PoolClient): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0;

const lossOf = (client: pg.ClientBase) => new Promise<void>((resolve) => client.once('end', resolve));

postgresTest('a released connection is handed out again without the pool, and counts as idle', async () => {
  await using site = await openConnections(2);
  const { pool, connections } = site;
  const first = await connections.connect();
  const second = await connections.connect();
  expect([connections.totalCount, connections.idleCount]).toEqual([2, 0]);
  first.release();
  second.release();
  expect([connections.totalCount, connections.idleCount, pool.idleCount]).toEqual([2, 2, 0]);
  expect([await connections.connect(), await connections.connect()]).toEqual([second, first]);
  first.release();
  second.release();
});

postgresTest('a caller that waits for a connection gets the next released one', async () => {
  await using site = await openConnections(1);
  const { connections } = site;
  const first = await connections.connect();
  const waiting = connections.connect();
  expect(connections.waitingCount).toBe(1);
  first.release();
  const second = await waiting;
  expect(await backendOf(second)).toBeGreaterThan(0);
  second.release();
});

postgresTest('a connection that is lost while it is kept, or released as broken, is not handed out again', async () => {
  await using site = await openConnections(2);
  const { connections } = site;
  const [kept, other] = [await connections.connect(), await connections.connect()];
  const lost = await backendOf(kept);
  kept.release();
  const loss = lossOf(kept);
  await other.query('select pg_terminate_backend($1)', [lost]);
  await loss;
  const broken = await backendOf(other);
  other.release(true);
  const next = await connections.connect();
  expect([lost, broken]).not.toContain(await backendOf(next));
  next.release();
});

postgresTest('a connection that is lost while it is used returns to the pool as broken', async () => {
  await using site = await openConnections(2);
  const { connections } = site;
  const [used, other] = [await connections.connect(), await connections.connect()];
  const loss = lossOf(used);
  await other.query('select pg_terminate_backend($1)', [await backendOf(used)]);
  await loss;
  used.release();
  expect([connections.totalCount, connections.idleCount]).toEqual([1, 0]);
  other.release();
});

postgresTest('a connection that was lost before it was handed out is replaced after its release', async () => {
  let hasLost = false;
  await using site = await openConnections(1, {
    async onConnect(client) {
      if (hasLost) return;
      hasLost = true;
      const loss = lossOf(client);
      await client.query('select pg_terminate_backend(pg_backend_pid())').catch(() => {});
      await loss;
    },
  });
  const { connections } = site;
  const lost = await connections.connect();
  await expect(lost.query('select 1')).rejects.toThrow(/not queryable/);
  lost.release();
  const next = await connections.connect();
  expect(await backendOf(next)).toBeGreaterThan(0);
  next.release();
});

postgresTest('connections that are not needed for a second return to the pool, which closes them', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  await using site = await openConnections(2);
  const { pool, connections } = site;
  const clients = [await connections.connect(), await connections.connect()];
  for (const client of clients) client.release();
  const next = async () => {
    vi.advanceTimersByTime(1000);
    const used = await connections.connect();
    const idle = pool.idleCount;
    used.release();
    return idle;
  };
  // Unused since the last return, not since their release.
  expect([await next(), await next(), await next()]).toEqual([0, 1, 1]);
  expect(connections.idleCount).toBe(2);
});
