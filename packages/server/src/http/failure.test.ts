import { request } from 'node:http';
import express, { type NextFunction, type Request, type Response } from 'express';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, inject, test } from 'vitest';
import { openDatabase } from '../db/open.ts';
import { listen } from '../listen.ts';
import { eventually } from '../test/eventually.ts';
import { DIALECTS, json, openHouse, postgresTest } from '../test/house.ts';
import { createDatabase } from '../test/postgres.ts';
import { problemIn } from '../test/problem-in.ts';
import { wireTo } from '../test/wire.ts';
import { errorHandler } from './error-handler.ts';

const REVEALING =
  /select|insert|relation|table|sqlite|postgres|kysely|node_modules|\/src\/|\.ts|stack|driver|pool|at /i;

describe.each(DIALECTS)('%s', (dialect) => {
  test('an internal error is a 500 without details, and releases the idempotency key', async () => {
    await using house = await openHouse(dialect, { LOG_LEVEL: 'silent' });
    const { db } = house.deps;
    await db.deleteFrom('idempotency_keys').execute();
    await sql`alter table folders rename to elsewhere`.execute(db);
    const answer = await house.request(
      'owner',
      'POST',
      `/api/projects/${house.projectId}/folders`,
      json({ name: 'A' }, { 'idempotency-key': 'once' }),
    );
    const problem = await problemIn(answer, 'INTERNAL');
    expect(`${problem.title} ${problem.detail}`).not.toMatch(REVEALING);
    expect(Object.keys(problem).toSorted()).toEqual(
      ['code', 'detail', 'instance', 'requestId', 'status', 'title', 'type'].toSorted(),
    );
    expect(await db.selectFrom('idempotency_keys').selectAll().execute()).toEqual([]);
  });

  test('a closed database is an error too, and makes the server not ready', async () => {
    await using house = await openHouse(dialect, { LOG_LEVEL: 'silent' });
    await house.deps[Symbol.asyncDispose]();
    const answer = await house.request('owner', 'GET', '/api/ping');
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(await answer.text()).not.toMatch(REVEALING);
    const ready = await house.request(null, 'GET', '/readyz');
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'down', database: 'down', storage: 'ok', engine: 'embedded', degraded: ['workers'] },
    ]);
    expect((await house.request(null, 'GET', '/healthz')).status).toBe(200);
  });
});

test('a client that disconnects while it sends the body is not logged as a failure', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
  const handled = Promise.withResolvers<unknown>();
  const handleError = errorHandler({ log });
  const app = express()
    .put('/', async (sent) => {
      for await (const _ of sent) put.destroy();
    })
    .use((error: unknown, sent: Request, response: Response, next: NextFunction) => {
      handleError(error, sent, response, next);
      handled.resolve(error);
    });
  await using listening = await listen(app, { host: '127.0.0.1', port: 0 }, 1);
  const put = request(`http://127.0.0.1:${listening.port}/`, { method: 'PUT', headers: { 'content-length': 1000 } });
  put.on('error', () => {}).write('half of it');
  expect(await handled.promise).toMatchObject({ code: 'ECONNRESET' });
  expect(lines).toEqual([]);
});

postgresTest.each(['off', 'on'])(
  'without Postgres everything is 503 with Retry-After, and works again without a restart (limits %s)',
  async (limits) => {
    await using database = await createDatabase(inject('postgresUrl'));
    await using wire = await wireTo(database.url);
    await using house = await openHouse('postgres', {
      DATABASE_URL: wire.url,
      LOG_LEVEL: 'silent',
      RATE_LIMITS: limits,
    });
    const create = () =>
      house.request('owner', 'POST', `/api/projects/${house.projectId}/folders`, json({ name: 'A' }));
    expect((await create()).status).toBe(201);

    await wire.cut();
    for (const answer of [await create(), await house.request('owner', 'GET', '/api/ping')]) {
      const problem = await problemIn(answer, 'NOT_READY');
      expect(problem.detail).not.toMatch(/ECONN|127\.0\.0\.1|connect /);
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    expect((await house.request(null, 'GET', '/readyz')).status).toBe(503);
    expect((await house.request(null, 'GET', '/healthz')).status).toBe(200);
    expect((await house.request(null, 'GET', '/metrics')).status).toBe(200);

    await wire.mend();
    await eventually(async () => (await house.request(null, 'GET', '/readyz')).status === 200, 'ready again');
    expect((await create()).status).toBe(201);
    const list = await house.people.owner.client.folders.list({ params: { id: house.projectId } });
    expect(list.data).toHaveLength(2);
  },
);

postgresTest('a request whose Postgres connection breaks is 503, and the server keeps running', async () => {
  await using database = await createDatabase(inject('postgresUrl'));
  await using wire = await wireTo(database.url);
  await using house = await openHouse('postgres', { DATABASE_URL: wire.url, LOG_LEVEL: 'silent' });
  await using beside = openDatabase({ dialect: 'postgres', url: database.url, connections: 2 }, () => {});
  const waiting = sql<{ pid: number }>`select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;

  const answer = await beside.db.transaction().execute(async (trx) => {
    await trx.updateTable('projects').set({ deadline: null }).where('id', '=', house.projectId).execute();
    const request = house.request('owner', 'PATCH', `/api/projects/${house.projectId}`, json({ name: 'B' }));
    await eventually(async () => (await waiting.execute(beside.db)).rows.length === 1, 'the request waits for the row');
    await wire.cut();
    return request;
  });
  await problemIn(answer, 'NOT_READY');
  await wire.mend();
  await eventually(async () => (await house.request(null, 'GET', '/readyz')).status === 200, 'ready again');
  const { data } = await house.people.owner.client.projects.get({ params: { id: house.projectId } });
  expect(data.name).toBe('Film');
});
