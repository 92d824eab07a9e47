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

test('with Postgres away at POST nothing is accepted, and everything works when it is back', async () => {
  await wire.cut();
  await expect(service.generate('kling-3.0')).rejects.toMatchObject({ status: 503, code: 'NOT_READY' });
  await wire.mend();
  expect((await service.ended(await service.generate('kling-3.0'))).status).toBe('UPLOADED');
});

test('Postgres going away again and again while steps run costs time, not files or money', {
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
    expect((await service.ended(id, 70)).status).toBe('UPLOADED');
    const { data } = await service.client.files.getGeneration({ params: { id } });
    expect(data.providerJobId).not.toBeNull();
  }
});
