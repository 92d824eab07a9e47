import { randomBytes } from 'node:crypto';
import { startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { BUCKET, s3Url } from '../../storage/test/drivers.ts';
import { type House, openHouse } from '../../test/house.ts';
import { cancel, KINDS, put, start } from './test/uploads.ts';

let bucket: Awaited<ReturnType<typeof startFauxqs>>;
let house: House & AsyncDisposable;
beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  bucket = await startFauxqs({ port: 0, logger: false, init: { buckets: [BUCKET] } });
  house = await openHouse('sqlite', { STORAGE_URL: s3Url(`http://127.0.0.1:${bucket.port}`) });
});
afterAll(async () => {
  await house[Symbol.asyncDispose]();
  await bucket.stop();
});

test.each(KINDS)('%s on S3 accepts no part after it is canceled', async (kind) => {
  const { client } = house.people.owner;
  const { id, parts } = await start(client, kind, house.projectId, { size: 100 });
  const url = parts[0]?.url ?? '';
  expect((await put(url, randomBytes(100))).status).toBe(200);
  await cancel(client, id);
  const answer = await put(url, randomBytes(100));
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('NoSuchUpload')]);
});

test('a cancel succeeds without the storage, and the sweep aborts the upload later', async () => {
  const { client } = house.people.owner;
  const { id } = await start(client, 'FX', house.projectId, { size: 100 });
  const abort = vi.spyOn(house.deps.storage, 'abort').mockRejectedValue(new Error('unreachable'));
  await cancel(client, id);
  expect(abort).toHaveBeenCalledOnce();
  abort.mockRestore();
  const noted = house.deps.db.selectFrom('pending_blob_deletions').select('storage_key').where('storage_key', '=', id);
  expect(await noted.execute()).toHaveLength(1);
});
