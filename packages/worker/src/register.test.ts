import { createWorkerClient } from '@review/client/worker';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Drain } from './drain.ts';
import { latestRefusals, recordRefusal } from './refusals.ts';
import { startHeartbeat } from './register.ts';
import { standIn } from './test/stand-in.ts';

test('every heartbeat reports the families and the latest refusals of a provider, and learns of a drain', async () => {
  await using server = await standIn((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":{"draining":true}}'),
  );
  const client = createWorkerClient({ baseUrl: server.url, token: 'shared' });
  const report = () => ({ worker: 'left', families: [], refusals: latestRefusals() });
  recordRefusal({ family: 'veo', type: 'AUTH', message: 'The key is unknown.' });
  recordRefusal({ family: 'veo', type: 'BALANCE', message: 'The account is empty.' });
  const drain = new Drain();
  using _reporting = startHeartbeat(client, report, drain, pino({ level: 'silent' }), 10);
  await expect.poll(() => server.received.length).toBeGreaterThan(2);
  expect(server.received[0]).toMatchObject({
    url: '/worker/heartbeat',
    body: { worker: 'left', refusals: [{ family: 'veo', type: 'BALANCE', message: 'The account is empty.' }] },
  });
  await expect.poll(() => drain.signal.aborted).toBe(true);
});
