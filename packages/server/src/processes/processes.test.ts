import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../test/eventually.ts';
import { DIALECTS, type House, openHouse, postgresTest } from '../test/house.ts';
import { becomesReady, runProgram } from '../test/server-process.ts';
import { admitted, call, isAlive, SETTINGS, startProcesses } from './test/two-processes.ts';

describe.runIf(DIALECTS.includes('postgres'))('two processes', () => {
  const opened = new AsyncDisposableStack();
  let house: House;
  let started: Awaited<ReturnType<typeof startProcesses>>;
  beforeAll(async () => {
    house = opened.use(await openHouse('postgres'));
    started = await startProcesses(house, { RATE_LIMITS: 'on' });
    opened.use(started.server);
  });
  afterAll(() => opened.disposeAsync());

  test('share the port, and the limit: of 200 calls of tier 2 at once, 20 are admitted', async () => {
    const { server, lines, listening } = started;
    expect(await admitted(server, house, 200)).toBe(20);
    const served = lines.filter(({ msg }) => msg.includes('upload.generate')).map(({ pid }) => pid);
    for (const pid of served) expect(listening()).toContain(pid);
    expect(new Set(served).size).toBe(2);
  });

  test('count in the same metrics', async () => {
    const { server } = started;
    const counted = async () => {
      const text = await (await call(server, house, '/metrics')).text();
      expect(text).toMatch(/^generation_queue_depth\{family="veo"\} 0$/m);
      return Number(/http_request_duration_seconds_count\{operation="models.list[^}]*\} (\d+)/.exec(text)?.[1] ?? 0);
    };
    const before = await counted();
    const calls = 20;
    for (let sent = 0; sent < calls; sent++) expect((await call(server, house, '/api/models')).status).toBe(200);
    for (let scrapes = 0; scrapes < 4; scrapes++) expect(await counted()).toBe(before + calls);
  });

  test('one that is killed is started again, and the other serves meanwhile', async () => {
    const { server, lines, listening } = started;
    const alive = () => listening().filter(isAlive);
    const [killed = 0] = alive();
    process.kill(killed, 'SIGKILL');
    await eventually(async () => lines.some(({ msg }) => msg.startsWith('server process ended')), 'the end is logged');
    for (let sent = 0; sent < 20; sent++) expect((await call(server, house, '/api/ping')).status).toBe(200);
    await eventually(async () => alive().length === 2, 'another process listens');
    await becomesReady(server);
    expect(alive()).not.toContain(killed);
  });
});

describe('several processes', () => {
  postgresTest('a port in use ends the start with one message', async () => {
    await using house = await openHouse('postgres');
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = String(typeof address === 'object' ? address?.port : '');
    const settings = { DATABASE_URL: house.databaseUrl, HOST: '127.0.0.1', PORT: port, ...SETTINGS };
    await using run = runProgram('main.js', settings);
    const { code, errors } = await run.finished;
    other.close();
    expect([code, errors.trim().split('\n')]).toEqual([1, [expect.stringContaining(`Port ${port} is in use`)]]);
  });
});

test('on SQLite more than one process is refused', async () => {
  await using run = runProgram('main.js', { SERVER_PROCESSES: '2' });
  const { code, errors } = await run.finished;
  expect(code).toBe(1);
  expect(errors).toContain('SERVER_PROCESSES: more than 1 needs Postgres');
});
