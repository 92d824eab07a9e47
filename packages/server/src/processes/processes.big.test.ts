import { expect, test } from 'vitest';
import { eventually } from '../test/eventually.ts';
import { openHouse } from '../test/house.ts';
import { slowRequest } from '../test/slow-request.ts';
import { admitted, call, isAlive, startProcesses } from './test/two-processes.ts';

const CALLERS = 8;
const KILLS = 3;
/** On a busy machine, calls may wait long for a connection. One that gets none is counted in the memory of its process. */
const PATIENT = { DATABASE_CONNECT_SECONDS: '60' };

test('the limit is exact over two processes behind one port: of 1,000 calls of tier 2 at once, 20', async () => {
  await using house = await openHouse('postgres');
  const { server } = await startProcesses(house, { RATE_LIMITS: 'on', ...PATIENT });
  await using _server = server;
  expect(await admitted(server, house, 1000)).toBe(20);
});

test('killing a process under load fails only the requests that it has, and the service continues', async () => {
  await using house = await openHouse('postgres');
  const { server, listening } = await startProcesses(house);
  await using _server = server;
  let isLoaded = true;
  let [answered, broken] = [0, 0];
  const callers = Array.from({ length: CALLERS }, async () => {
    while (isLoaded) {
      const status = await call(server, house, '/api/ping').then(
        (answer) => answer.status,
        () => null,
      );
      if (status === null) broken += 1;
      else {
        expect(status).toBe(200);
        answered += 1;
      }
    }
  });
  for (let kills = 1; kills <= KILLS; kills++) {
    const before = answered;
    process.kill(listening().at(-1) ?? 0, 'SIGKILL');
    await eventually(async () => answered > before + 50, 'the other process answers');
    await eventually(async () => listening().length === 2 + kills, 'another process listens', 30_000);
  }
  isLoaded = false;
  await Promise.all(callers);
  console.log(`${answered} requests answered, ${broken} broken by ${KILLS} kills`);
  expect(broken).toBeLessThanOrEqual(KILLS * CALLERS);
  server.process.kill('SIGTERM');
  expect((await server.finished).code).toBe(0);
});

test('SIGTERM lets a request in flight finish, and ends all processes', async () => {
  await using house = await openHouse('postgres');
  const { server, listening } = await startProcesses(house, { DRAIN_SECONDS: '1' });
  await using _server = server;
  const slow = await slowRequest(server, house);
  server.process.kill('SIGTERM');
  await eventually(async () => (await call(server, house, '/readyz')).status === 503, '/readyz is 503');
  expect((await call(server, house, '/api/ping')).status).toBe(200);
  slow.finish();
  expect((await slow.answered).status).toBe(201);
  const { code, errors } = await server.finished;
  expect([code, errors]).toEqual([0, '']);
  expect(listening().map(isAlive)).toEqual([false, false]);
});

test('all processes end when the primary is killed', async () => {
  await using house = await openHouse('postgres');
  const { server, listening } = await startProcesses(house);
  await using _server = server;
  server.process.kill('SIGKILL');
  await server.finished;
  await eventually(async () => !listening().some(isAlive), 'no process is left');
  expect(listening().map(isAlive)).toEqual([false, false]);
});
