import { once } from 'node:events';
import { createServer } from 'node:net';
import type { GenerateRequest } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { eventually } from './test/eventually.ts';
import { DIALECTS, openHouse } from './test/house.ts';
import { becomesReady, runProgram, type ServerProcess, startServer } from './test/server-process.ts';
import { slowRequest } from './test/slow-request.ts';
import { currentRequest, post } from './tools/test/wire.ts';

/** Whether a new request is refused, by /readyz or by a closed port. */
const turnedAway = (server: ServerProcess) =>
  fetch(`${server.url}/readyz`).then(
    ({ status }) => status === 503,
    () => true,
  );

describe.each(DIALECTS)('%s', (dialect) => {
  test('SIGTERM refuses new requests and lets the one in flight finish; a second signal has no effect', async () => {
    await using house = await openHouse(dialect);
    await using server = await startServer({ DATABASE_URL: house.databaseUrl });
    await becomesReady(server);
    const slow = await slowRequest(server, house);

    server.process.kill('SIGTERM');
    await eventually(() => turnedAway(server), 'new requests are turned away');
    server.process.kill('SIGTERM');
    server.process.kill('SIGINT');
    slow.finish();
    const { status, body } = await slow.answered;
    expect(status).toBe(201);

    const { code, errors, output } = await server.finished;
    expect([code, errors]).toEqual([0, '']);
    expect(output).toContain('stopping');
    const list = await house.people.owner.client.folders.list({ params: { id: house.projectId } });
    expect(list.data.map(({ id }) => id)).toEqual([JSON.parse(body).data.id]);
  });
});

test.each([1, 2])('SIGTERM answers %i open long polls at once, and the exit code is 0', async (waits) => {
  await using house = await openHouse('sqlite');
  const { client, key } = house.people.owner;
  const body: GenerateRequest = {
    outputType: 'DOCUMENT',
    outputModel: 'markdown',
    prompt: 'A lamp',
    folder: null,
    attachments: [],
  };
  const { data } = await client.generation.generate({ params: { id: house.projectId }, body });
  await using server = await startServer({ DATABASE_URL: house.databaseUrl, PORT: '0' });
  const headers = { authorization: `Bearer ${key}` };
  const answers = Array.from({ length: waits }, () =>
    fetch(`${server.url}/api/files/${data.id}?wait=30`, { headers }).then(({ status }) => status),
  );
  // Each takes the same path as a long poll: after a few of them the long polls are open.
  for (let count = 0; count < 5; count += 1) await fetch(`${server.url}/api/files/${data.id}`, { headers });

  const asked = performance.now();
  server.process.kill('SIGTERM');
  expect(await Promise.all(answers)).toEqual(Array(waits).fill(200));
  const { code, errors } = await server.finished;
  expect([code, errors]).toEqual([0, '']);
  expect(performance.now() - asked).toBeLessThan(10_000);
});

test('while it drains it answers every request with Connection: close, and /readyz is 503', async () => {
  await using house = await openHouse('sqlite');
  await using server = await startServer({ DATABASE_URL: house.databaseUrl, DRAIN_SECONDS: '2' });
  const headers = { authorization: `Bearer ${house.people.owner.key}` };
  const ask = (path: string) => fetch(server.url + path, { headers });
  expect((await ask('/api/ping')).headers.get('connection')).not.toBe('close');
  const slow = await slowRequest(server, house);

  server.process.kill('SIGTERM');
  await eventually(async () => (await ask('/readyz')).status === 503, '/readyz is 503');
  const ping = await ask('/api/ping');
  expect([ping.status, ping.headers.get('connection')]).toEqual([200, 'close']);
  // A refused read shows a proxy that retries at another server that this one stops.
  const byProxy = { ...headers, 'x-retry-on': '503' };
  const read = await fetch(`${server.url}/api/ping`, { headers: byProxy });
  expect([read.status, read.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await read.json()).toMatchObject({ code: 'NOT_READY' });
  expect((await fetch(`${server.url}/api/ping`, { headers: byProxy })).status).toBe(200);
  const written = await fetch(`${server.url}/api/projects`, {
    method: 'POST',
    headers: { ...byProxy, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Written while it drains' }),
  });
  expect(written.status).toBe(201);
  slow.finish();
  expect(await slow.answered).toMatchObject({ status: 201, connection: 'close' });
  expect((await server.finished).code).toBe(0);
});

test('a request that does not finish is aborted after SHUTDOWN_SECONDS, and the exit code is 0', async () => {
  await using house = await openHouse('sqlite');
  await using server = await startServer({ DATABASE_URL: house.databaseUrl, SHUTDOWN_SECONDS: '1' });
  const slow = await slowRequest(server, house);
  const cutOff = slow.answered.then(
    () => false,
    () => true,
  );
  server.process.kill('SIGTERM');
  expect((await server.finished).code).toBe(0);
  expect(await cutOff).toBe(true);
});

test('an open stream of the tools does not delay the stop', async () => {
  await using house = await openHouse('sqlite');
  await using server = await startServer({ DATABASE_URL: house.databaseUrl, PUBLIC_URL: house.url });
  const subscribe = currentRequest('subscriptions/listen', { notifications: {} });
  const stream = await post({ ...house, url: server.url }, house.people.owner.key, subscribe);
  expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const asked = performance.now();
  server.process.kill('SIGTERM');
  expect(await stream.text()).toContain('data: ');
  expect((await server.finished).code).toBe(0);
  expect(performance.now() - asked).toBeLessThan(10_000);
});

test('a port in use is an error message, and the exit code is 1', async () => {
  const other = createServer();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    await using server = runProgram('main.js', { PORT: String(port) });
    const { code, errors } = await server.finished;
    expect([code, errors.trim()]).toEqual([
      1,
      `Port ${port} is in use by another program. Stop it, or choose another port with PORT=<number>.`,
    ]);
  } finally {
    other.close();
  }
});
