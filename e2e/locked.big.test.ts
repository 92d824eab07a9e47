import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Service } from './service.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start({ SANDBOX_MILLISECONDS: '500' });
  await service.startWorker('one');
});
afterAll(() => service[Symbol.asyncDispose]());

/** Another connection holds a write lock on the database. */
async function whileLocked<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  const database = new DatabaseSync(join(service.settings['DATA_DIR'] ?? '', 'review.db'), { timeout: 5000 });
  database.exec('begin immediate');
  const working = work();
  await sleep(milliseconds);
  database.exec('rollback');
  database.close();
  return working;
}

test('a locked database only delays a POST', async () => {
  const id = await whileLocked(3000, () => service.generate('markdown'));
  expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
});

test('a locked database only delays running steps, and nothing is ordered twice', async () => {
  const ids = await Promise.all([service.generate('markdown'), service.generate('pdf')]);
  await whileLocked(3000, async () => {});
  for (const id of ids) {
    const file = await service.waitForEnd(id);
    expect(file.status).toBe('UPLOADED');
    expect(await service.intents(id)).toBe(1);
  }
});
