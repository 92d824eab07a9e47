import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { upload } from '@review/client';
import { describe, expect, inject, test } from 'vitest';
import { readConfig } from '../packages/server/src/config/config.ts';
import { makeClip, PRORES } from '../packages/worker/src/media/test/make-clip.ts';
import { until } from './processes.ts';
import { NO_MEDIA, Service } from './service.ts';
import { bothEngines, lacksTemporal, TemporalServer } from './temporal-server.ts';

const KINDS = ['FILMSTRIP', 'POSTER', 'PROXY', 'PROXY', 'THUMBNAIL'];

/** The objects in the storage that no row names. */
async function strayObjects(service: Service): Promise<string[]> {
  const { db } = service.database;
  const [files, renditions, uploads, pending] = await Promise.all([
    db.selectFrom('files').select('storage_key').execute(),
    db.selectFrom('renditions').select('storage_key').execute(),
    db.selectFrom('uploads').select('storage_key').execute(),
    db.selectFrom('pending_blob_deletions').select('storage_key').execute(),
  ]);
  const named = new Set([...files, ...renditions, ...uploads, ...pending].map((row) => row.storage_key));
  const storage = readConfig(service.settings).storageUrl.replace('file:', '');
  const found = await readdir(join(storage, 'objects'), { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile() && !named.has(basename(entry.name))).map(({ name }) => name);
}

/** Kills the worker while it makes a proxy, and the server once, and expects the media to be complete in the end. */
async function readThroughKills(service: Service): Promise<void> {
  const path = join(service.folder, 'clip.mov');
  await makeClip(path, PRORES, { frames: 60, width: 1280, height: 720, pixels: 'yuv422p10le' });
  const first = await service.startWorker('first');
  const source = new Uint8Array(await readFile(path));
  const { id } = await upload(service.client, { to: { project: service.projectId }, source, name: 'clip.mov' });
  const get = async () => (await service.client.files.get({ params: { id } })).data;
  await until(
    'the poster is shown, and the proxy is being made',
    async () => (await get()).renditions.length === 3,
    90_000,
  );
  await first.end();
  expect((await get()).media?.status).toBe('PENDING');
  await service.restartServer();
  await service.startWorker('second');
  const file = await until(
    'the media is read',
    async () => (await get()).media?.status !== 'PENDING' && get(),
    200_000,
  );
  expect(file.media).toMatchObject({ status: 'READY', error: null, videoCodec: 'prores', frameCount: 60 });
  expect(file.renditions.map(({ kind }) => kind)).toEqual(KINDS);
  for (const { url, size } of file.renditions) expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(size);
  expect(await strayObjects(service)).toEqual([]);
  const row = await service.database.db
    .selectFrom('media')
    .select('attempts')
    .where('file_id', '=', id)
    .executeTakeFirst();
  expect(row?.attempts).toBe(2);
}

describe('a killed worker is replaced, and leaves no object behind', { timeout: 400_000 }, () => {
  test('under the embedded engine', async () => {
    await using service = await Service.start();
    await readThroughKills(service);
  });

  test.skipIf(lacksTemporal())('under Temporal', async () => {
    await using temporal = await TemporalServer.start();
    await using service = await Service.start({}, { postgres: inject('postgresUrl'), temporal });
    await readThroughKills(service);
  });
});

test.each(bothEngines())('under the %s engine, MEDIA_CONCURRENCY=0 leaves media to another worker', async (engine) => {
  await using temporal = engine === 'temporal' ? await TemporalServer.start() : null;
  const settings = { ...NO_MEDIA, SANDBOX_MILLISECONDS: '0' };
  await using service = await Service.start(settings, temporal ? { temporal } : {});
  await service.startWorker('maker');
  const id = await service.generate('gpt-image-2');
  await service.waitForEnd(id);
  await service.waitForEnd(await service.generate('markdown'));
  expect(await service.timesRead(id)).toBe(0);
  await service.startWorker('reader', { MEDIA_CONCURRENCY: '1' });
  await until('the media is read', async () => (await service.file(id)).media?.status === 'READY');
  expect(await service.timesRead(id)).toBe(1);
});
