import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import { expect, test, vi } from 'vitest';
import { BUCKET, s3Url } from '../storage/test/drivers.ts';
import { openHouse } from '../test/house.ts';
import { review, reviewJson } from '../test/review.ts';

test('a store that cannot list unfinished uploads is compared by its objects only', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'S3RVER');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'S3RVER');
  await using stopped = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'review-s3-'));
  stopped.defer(() => rmSync(directory, { recursive: true }));
  // s3rver computes another signature for requests to the bucket itself.
  const store = { address: '127.0.0.1', port: 0, directory, silent: true, allowMismatchedSignatures: true };
  const bucket = new S3rver({ ...store, configureBuckets: [{ name: BUCKET }] });
  const { port } = await bucket.run();
  stopped.defer(async () => {
    bucket.httpServer.closeAllConnections();
    await bucket.close();
  });
  const house = stopped.use(await openHouse('sqlite', { STORAGE_URL: s3Url(`http://127.0.0.1:${port}`) }));
  const settings = { DATABASE_URL: house.databaseUrl, STORAGE_URL: house.deps.config.storageUrl };
  for (const command of ['check', 'gc']) {
    expect(await reviewJson(settings, 'storage', command)).toMatchObject({ abandoned: null });
    const { code, output } = await review(settings, 'storage', command);
    expect([code, output]).toEqual([0, expect.stringContaining('This storage cannot list unfinished uploads.')]);
  }
});
