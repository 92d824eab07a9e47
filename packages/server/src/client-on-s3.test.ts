import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import { download, upload } from '@review/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { BUCKET, s3Url } from './storage/test/drivers.ts';
import { type House, openHouse } from './test/house.ts';

/** The typed client with an S3 stand-in that verifies presigned URLs. */
const directory = mkdtempSync(join(tmpdir(), 'review-s3-'));
const bucket = new S3rver({
  address: '127.0.0.1',
  port: 0,
  directory,
  silent: true,
  allowMismatchedSignatures: false,
  configureBuckets: [{ name: BUCKET }],
});
let house: House & AsyncDisposable;
beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'S3RVER');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'S3RVER');
  const { port } = await bucket.run();
  house = await openHouse('sqlite', { STORAGE_URL: s3Url(`http://127.0.0.1:${port}`), UPLOAD_PART_SIZE: '100000' });
});
afterAll(async () => {
  await house[Symbol.asyncDispose]();
  bucket.httpServer.closeAllConnections();
  await bucket.close();
  rmSync(directory, { recursive: true });
});

test('a file is uploaded in parts and downloaded over a connection that breaks', async () => {
  const { client } = house.people.owner;
  const bytes = new Uint8Array(randomBytes(1_050_000));
  let calls = 0;
  const shaky: typeof fetch = async (...request) => {
    const answer = await fetch(...request);
    if (++calls % 3 !== 0) return answer;
    await answer.body?.cancel();
    throw new TypeError('fetch failed');
  };
  const source = new File([bytes], 'clip.mp4', { type: 'video/mp4' });
  const { id } = await upload(client, { to: { project: house.projectId }, source, fetch: shaky });
  expect(calls).toBeGreaterThan(10);
  await expect
    .poll(async () => (await client.files.get({ params: { id } })).data.sha256)
    .toBe(createHash('sha256').update(bytes).digest('hex'));
  const to = join(directory, 'clip.mp4');
  await download(client, id, { to, fetch: shaky });
  expect((await download(client, id)).size).toBe(bytes.length);
});
