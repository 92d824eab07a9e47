import { describe, expect, inject, test } from 'vitest';
import { startObjectStore } from './object-store.ts';
import { RECONCILE_QUICKLY } from './on-temporal.ts';
import { until } from './processes.ts';
import { Service, sha256 } from './service.ts';
import { lacksTemporal, TemporalServer } from './temporal-server.ts';

const isLacking = lacksTemporal();

describe.skipIf(isLacking)('Temporal, Postgres and S3 together', () => {
  test('several model families generate files, and a killed worker causes no second order', async () => {
    await using temporal = await TemporalServer.start();
    await using objectStore = await startObjectStore();
    const ground = { postgres: inject('postgresUrl'), temporal, objectStore };
    await using service = await Service.start({ SANDBOX_MILLISECONDS: '3000', ...RECONCILE_QUICKLY }, ground);
    const first = await service.startWorker('first');
    const small = { resolution: '480p', durationSeconds: 4, aspectRatio: '16:9' };
    const ids = await Promise.all([
      ...['markdown', 'gemini-3-pro-image', 'meshy-7', 'hunyuan3d-3.1'].map((model) => service.generate(model)),
      service.generate('seedance-2.5', 'A lamp', { configs: small }),
    ]);
    for (const id of ids) await service.waitForOrder(id);
    await first.end('SIGKILL');
    await service.startWorker('second');
    for (const id of ids) {
      const file = await service.waitForEnd(id);
      expect(file).toMatchObject({ status: 'UPLOADED', generation: { error: null } });
      expect(sha256(await service.bytesOf(id))).toBe(file.sha256);
      expect(await service.row(id)).toMatchObject({ engine: 'temporal', epoch: 1 });
      expect(await service.intents(id)).toBe(1);
    }
    await until('the media of all files is read', async () => {
      const files = await Promise.all(ids.map((id) => service.file(id)));
      return files.every(({ media }) => media?.status !== 'PENDING');
    });
    const renditions = await service.database.db.selectFrom('renditions').select('storage_key').execute();
    const isRendition = (key: string) => renditions.some((rendition) => key.includes(rendition.storage_key));
    const keys = (await objectStore.keys()).filter((key) => !isRendition(key));
    for (const id of ids) expect(keys.filter((key) => key.includes(id))).toHaveLength(1);
  }, 120_000);
});
