import { fork } from 'node:child_process';
import { createHash, type Hash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startFauxqs } from 'fauxqs';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { StorageUpload, StoredPart } from './storage.ts';
import { BUCKET, DRIVERS, openOnS3rver, s3Url } from './test/drivers.ts';
import { expectRandomSizesUnchanged, newKey, putAll } from './test/upload.ts';

const MIB = 1024 * 1024;
const PART = 8 * MIB;
const PARTS = 128;
/** In MB. Measured 142 on the disk and 154 on S3, where the SDK is loaded; 115 before the first request. */
const MAX_MEMORY = { disk: 160, 'S3 (fauxqs)': 200 };
/** Measured 228 to 245 with the SDK, three reads in a row: it is bounded, but higher. */
const MAX_READER_MEMORY = 300;
const TEN_MINUTES = { timeout: 600_000 };

describe.each(['disk', 'S3 (fauxqs)'] as const)('%s', (driver) => {
  test('1 GiB is uploaded and downloaded by signed URLs with bounded memory of the server', TEN_MINUTES, async () => {
    await using server = await (driver === 'disk' ? serveOnDisk() : serveOnFauxqs());
    const base = randomBytes(PART);
    const input = createHash('sha256');
    const target = await server.begin(newKey());

    const [uploading, parts] = await timed(() =>
      server.putAll(target, Array(PARTS).fill(PART), (index) => {
        const part = Buffer.from(base);
        part.writeUInt32LE(index);
        input.update(part);
        return part;
      }),
    );
    const [completing] = await timed(() => server.complete(target, parts, PARTS * PART));
    const expected = input.digest('hex');
    const [downloading, downloaded] = await timed(async () =>
      hashOf(await fetch(await server.downloadUrl(target.key))),
    );
    const throughUrls = server.peakMemory();
    const [reading, read] = await timed(async () => hashOf(await fetch(`${server.url}/read/${target.key}`)));
    const throughServer = server.peakMemory();
    console.log(
      `${driver}: 1 GiB in ${PARTS} parts: upload ${uploading} s, complete ${completing} s, download ${downloading} s, ` +
        `server at most ${throughUrls} MB; then read through the server ${reading} s, at most ${throughServer} MB`,
    );
    expect([downloaded, read]).toEqual([expected, expected]);
    expect(throughUrls).toBeLessThan(MAX_MEMORY[driver]);
    expect(throughServer).toBeLessThan(MAX_READER_MEMORY);
  });
});

test.each(DRIVERS)('$name: objects of 100 random sizes are stored unchanged', TEN_MINUTES, async (driver) => {
  await using opened = await driver.open();
  await expectRandomSizesUnchanged(opened.storage, Math.max(driver.leastPart, 5000), 100);
});

describe('10,000 parts', () => {
  const sizes = Array.from({ length: 10_000 }, (_, index) => 1 + (index % 300));
  const bytes = randomBytes(sizes.reduce((sum, size) => sum + size, 0));
  const expected = createHash('sha256').update(bytes).digest('hex');

  const parts: Buffer[] = [];
  let start = 0;
  for (const size of sizes) {
    parts.push(bytes.subarray(start, start + size));
    start += size;
  }

  test.each(['disk', 'S3 (s3rver)'])('%s', TEN_MINUTES, async (driver) => {
    await using server = await (driver === 'disk' ? serveOnDisk() : serveOnS3rver());
    const target = await server.begin(newKey());
    const [uploading, sent] = await timed(() => server.putAll(target, sizes, (index) => parts[index] ?? Buffer.of()));
    const [completing] = await timed(() => server.complete(target, sent, bytes.length));
    expect(await hashOf(await fetch(await server.downloadUrl(target.key)))).toBe(expected);
    console.log(`${driver}: 10,000 parts: upload ${uploading} s, complete ${completing} s`);
  });

  test.skip('S3 (fauxqs) [not shown: its least part is 5 MiB, and it keeps everything in memory]', () => {});
});

async function serveOnDisk() {
  const folder = mkdtempSync(join(tmpdir(), 'review-big-'));
  return serve(`file:${folder}`, async () => rmSync(folder, { recursive: true, force: true }));
}

async function serveOnFauxqs() {
  const fauxqs = await startFauxqs({ port: 0, logger: false, init: { buckets: [BUCKET] } });
  return serve(s3Url(`http://127.0.0.1:${fauxqs.port}`), () => fauxqs.stop());
}

async function serveOnS3rver() {
  const opened = await openOnS3rver({ checkSignatures: true });
  const { origin } = new URL(await opened.storage.downloadUrl(randomUUID(), { name: 'a', mimeType: 'a/b' }, 60));
  return serve(s3Url(origin), async () => opened[Symbol.asyncDispose]());
}

async function serve(storageUrl: string, stop: () => Promise<void>) {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'S3RVER');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'S3RVER');
  const script = fileURLToPath(new URL('./test/blob-server.ts', import.meta.url));
  const child = fork(script, [storageUrl], { execArgv: [] });
  const [port]: unknown[] = await once(child, 'message');
  const url = `http://127.0.0.1:${port}`;

  async function tell<T>(path: string, body: unknown, answer: z.ZodType<T>): Promise<T> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return answer.parse(await response.json());
  }

  return {
    url,
    async begin(key: string): Promise<StorageUpload> {
      return { key, upload: await tell('/begin', { key }, z.string()) };
    },
    async putAll(target: StorageUpload, sizes: number[], partOf: (index: number) => Buffer): Promise<StoredPart[]> {
      return putAll(await tell('/part-urls', { target, sizes }, z.array(z.string())), partOf);
    },
    complete: (target: StorageUpload, parts: StoredPart[], size: number) =>
      tell('/complete', { target, parts, size }, z.null()),
    downloadUrl: (key: string) => tell('/download-url', { key }, z.string()),
    /** The peak in MB, as recorded by the kernel. */
    peakMemory(): number {
      const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
      return Math.round((Number(peak) * 1024) / 1e6);
    },
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await once(child, 'exit');
      await stop();
    },
  };
}

async function hashOf(answer: Response): Promise<string> {
  expect(answer.status).toBe(200);
  const hash: Hash = createHash('sha256');
  for await (const chunk of answer.body ?? []) hash.update(chunk);
  return hash.digest('hex');
}

async function timed<T>(work: () => Promise<T>): Promise<[seconds: string, result: T]> {
  const began = performance.now();
  const result = await work();
  return [((performance.now() - began) / 1000).toFixed(1), result];
}
