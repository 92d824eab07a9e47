import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createDatabase } from '../packages/server/src/test/postgres.ts';
import { type Wire, wireTo } from '../packages/server/src/test/wire.ts';
import { Service } from './service.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let wire: Wire;
let service: Service;
beforeAll(async () => {
  database = await createDatabase(inject('postgresUrl'));
  wire = await wireTo(database.url);
  service = await Service.start({ DATABASE_URL: wire.url, SANDBOX_MILLISECONDS: '1500' });
  await service.startWorker('one');
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await wire[Symbol.asyncDispose]();
  await database.drop();
});

test('without Postgres a POST fails, and everything works when it is back', async () => {
  await wire.cut();
  await expect(service.generate('kling-3.0')).rejects.toMatchObject({ status: 503, code: 'NOT_READY' });
  await wire.mend();
  expect((await service.waitForEnd(await service.generate('kling-3.0'))).status).toBe('UPLOADED');
});

test('a client that retries through a Postgres outage gets one generation', async () => {
  const refusals: number[] = [];
  const client = service.clientAt(service.url, {
    retries: 5,
    fetch: async (...request) => {
      const answer = await fetch(...request);
      if (answer.ok) return answer;
      refusals.push(answer.status);
      if (refusals.length === 2) await wire.mend();
      return answer;
    },
  });
  const before = await service.client.files.list({ params: { id: service.projectId } });
  await wire.cut();
  const id = await service.generate('kling-3.0', 'A lamp', {}, client);
  expect(new Set(refusals)).toEqual(new Set([503]));
  expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
  const after = await service.client.files.list({ params: { id: service.projectId } });
  expect(after.data).toHaveLength(before.data.length + 1);
});

test('repeated Postgres outages while steps run lose no file and cause no second order', {
  timeout: 90_000,
}, async () => {
  const ids = await Promise.all([service.generate('kling-3.0'), service.generate('seedance-2.5')]);
  for (const pause of [50, 400, 900, 1500]) {
    await sleep(pause);
    await wire.cut();
    await sleep(700);
    await wire.mend();
  }
  for (const id of ids) {
    expect((await service.waitForEnd(id, 70)).status).toBe('UPLOADED');
    const { data } = await service.client.files.getGeneration({ params: { id } });
    expect(data.providerJobId).not.toBeNull();
  }
});
