import { once } from 'node:events';
import { createServer } from 'node:net';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createApp } from '../app.ts';
import { listen } from '../listen.ts';
import { workerOf } from '../rooms/generation/test/generations.ts';
import { TIMED } from '../test/eventually.ts';
import { DIALECTS, openHouse } from '../test/house.ts';

/** Accepts connections and never answers. */
async function silentHost() {
  const server = createServer(() => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, [Symbol.dispose]: () => void server.close() };
}

test.each(DIALECTS)('%s: an unreachable storage is degraded with 200 within a second', TIMED, async (dialect) => {
  using silent = await silentHost();
  const endpoint = encodeURIComponent(`http://127.0.0.1:${silent.port}`);
  await using house = await openHouse(dialect, { STORAGE_URL: `s3://review/x?region=eu&endpoint=${endpoint}` });
  // The first probe also loads the S3 library.
  await house.request(null, 'GET', '/readyz');
  const asked = performance.now();
  const answer = await house.request(null, 'GET', '/readyz');
  expect(performance.now() - asked).toBeLessThan(1000);
  expect([answer.status, await answer.json()]).toEqual([
    200,
    { status: 'degraded', database: 'ok', storage: 'down', engine: 'embedded', degraded: ['storage', 'workers'] },
  ]);
  expect((await house.request('owner', 'GET', '/api/ping')).status).toBe(200);
});

test('an unreachable Temporal is degraded with 200', async () => {
  await using house = await openHouse('sqlite', { TEMPORAL_ADDRESS: '127.0.0.1:1', LOG_LEVEL: 'silent' });
  await house.deps.dispatcher?.start(AbortSignal.timeout(60_000));
  // Loading Temporal's library blocks the process, so that the first probe may find other checks late.
  await expect
    .poll(
      async () => {
        const answer = await house.request(null, 'GET', '/readyz');
        return [answer.status, await answer.json()];
      },
      { timeout: 10_000 },
    )
    .toMatchObject([200, { status: 'degraded', engine: 'temporal', degraded: ['engine', 'workers'] }]);
});

interface Line {
  level: number;
  msg: string;
}

/** A logger that collects its lines. */
function recordedLog() {
  const lines: Line[] = [];
  const stream = new Writable({
    write(line, _encoding, done) {
      lines.push(JSON.parse(String(line)));
      done();
    },
  });
  const at = (level: 'info' | 'warn') =>
    lines.filter((line) => line.level === pino.levels.values[level]).map(({ msg }) => msg);
  return { log: pino({ level: 'debug' }, stream), at };
}

test('probes are logged at debug, and a change of readiness once', async () => {
  await using house = await openHouse('sqlite');
  await workerOf(house).register({ body: { worker: 'one', families: [] } });
  const { log, at } = recordedLog();
  let isUp = true;
  const storage = { ...house.deps.storage, isReachable: async () => isUp };
  const deps = { ...house.deps, storage, log, metrics: new Registry() };
  await using listening = await listen(createApp(deps), { host: '127.0.0.1', port: 0 }, 1);
  const probe = async (path: string) => (await fetch(`http://127.0.0.1:${listening.port}${path}`)).text();

  for (const up of [true, true, false, false, true, true]) {
    isUp = up;
    for (const path of ['/readyz', '/healthz', '/metrics']) await probe(path);
  }
  expect([at('warn'), at('info')]).toEqual([['readiness is degraded'], ['readiness is ok']]);
});

test('a missing worker is logged only after the start-up time', async () => {
  await using house = await openHouse('sqlite');
  const { log, at } = recordedLog();
  const readiness = { accepting: true, workersDueAt: Number.POSITIVE_INFINITY };
  const deps = { ...house.deps, log, metrics: new Registry() };
  await using listening = await listen(createApp(deps, readiness), { host: '127.0.0.1', port: 0 }, 1);
  const probe = async () => (await fetch(`http://127.0.0.1:${listening.port}/readyz`)).json();

  expect(await probe()).toMatchObject({ status: 'degraded', degraded: ['workers'] });
  expect(at('warn')).toEqual([]);
  readiness.workersDueAt = 0;
  await probe();
  expect(at('warn')).toEqual(['readiness is degraded']);
});
