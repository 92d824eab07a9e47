import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NoSuchObject, PartsMismatch, type Storage } from './storage.ts';
import { DRIVERS, type Lack, type OpenDriver } from './test/drivers.ts';
import {
  beginUpload,
  bytesOf,
  download,
  expectRandomSizesUnchanged,
  newKey,
  put,
  putPart,
  putParts,
  readAll,
  splitEvenly,
  store,
} from './test/upload.ts';

describe.each(DRIVERS)('$name', ({ name: driver, leastPart, lacks, open }) => {
  let opened: OpenDriver;
  let storage: Storage;
  beforeAll(async () => {
    opened = await open();
    storage = opened.storage;
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
  });

  /** Skipped, with the reason in its title, if the S3 stand-in lacks the feature. */
  function testOf(need: Lack, name: string, body: () => Promise<void>): void {
    const lack = lacks[need];
    if (lack === undefined) test(name, body);
    else test.skip(`${name} [not shown: ${lack}]`, body);
  }

  const partSize = Math.max(leastPart, 5000);
  const twoParts = randomBytes(2 * partSize + 1001);
  const small = randomBytes(1000);

  test('bytes sent in parts are read and downloaded whole', async () => {
    const key = await store(storage, twoParts, partSize);
    expectBytes(await readAll(storage, key), twoParts);
    const answer = await download(storage, key);
    expect(answer.status).toBe(200);
    expectBytes(await bytesOf(answer), twoParts);
  });

  test('a small object is stored in one call', async () => {
    const key = newKey();
    await storage.put(key, small);
    expectBytes(await readAll(storage, key), small);
    expect(await storage.sizeOf(key)).toBe(small.length);
    await storage.remove(key);
    expect(await storage.sizeOf(key)).toBeNull();
  });

  testOf('reachable', 'every object is listed once with its size, and asked for by itself', async () => {
    const keys = [await store(storage, small, partSize), await store(storage, twoParts, partSize)];
    const sizes = new Map<string, number[]>();
    for await (const { key, size, modifiedAt } of storage.list()) {
      sizes.set(key, [...(sizes.get(key) ?? []), size]);
      expect(Math.abs(modifiedAt.getTime() - Date.now())).toBeLessThan(3_600_000);
    }
    expect(keys.map((key) => sizes.get(key))).toEqual([[small.length], [twoParts.length]]);
    expect(await Promise.all(keys.map((key) => storage.sizeOf(key)))).toEqual([small.length, twoParts.length]);
    expect(await storage.sizeOf(newKey())).toBeNull();
  });

  test('objects of 30 random sizes are stored unchanged', { timeout: 120_000 }, () =>
    expectRandomSizesUnchanged(storage, partSize, 30),
  );

  test('parts are sent and listed in any order, with ETags quoted or not', async () => {
    const target = await beginUpload(storage);
    const [first = small, second = small] = splitEvenly(twoParts, partSize);
    const last = await putPart(storage, target, 2, second);
    const one = await putPart(storage, target, 1, first);
    expect(one.eTag).toMatch(/^"[0-9a-f]{32}"$/);
    const parts = [last, { partNumber: 1, eTag: one.eTag.replaceAll('"', '') }];
    await storage.complete(target, parts, first.length + second.length);
    expectBytes(await readAll(storage, target.key), Buffer.concat([first, second]));
  });

  test('a download has Content-Length, ETag and Accept-Ranges', async () => {
    const answer = await download(storage, await store(storage, small, 1000));
    expect(answer.headers.get('content-length')).toBe('1000');
    expect(answer.headers.get('etag')).toMatch(/^".+"$/);
  });

  test('a range of a download is 206 with that range', async () => {
    const key = await store(storage, small, 1000);
    for (const [range, start, end] of [
      ['bytes=10-19', 10, 20],
      ['bytes=990-', 990, 1000],
      ['bytes=990-5000', 990, 1000],
    ] as const) {
      const answer = await download(storage, key, { headers: { range } });
      expect(answer.status).toBe(206);
      expect(answer.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/1000`);
      expect(await bytesOf(answer)).toEqual(small.subarray(start, end));
    }
  });

  testOf('ranges from the first byte', 'a range of the first byte, and one from the end', async () => {
    const key = await store(storage, small, 1000);
    const first = await download(storage, key, { headers: { range: 'bytes=0-0' } });
    expect([first.status, await bytesOf(first)]).toEqual([206, small.subarray(0, 1)]);
    const last = await download(storage, key, { headers: { range: 'bytes=-5' } });
    expect([last.status, await bytesOf(last)]).toEqual([206, small.subarray(995)]);
    expect(await readAll(storage, key, { start: 0, length: 1 })).toEqual(small.subarray(0, 1));
  });

  testOf('range errors', 'a range past the end is 416 to a download, with the size', async () => {
    const key = await store(storage, small, 1000);
    const answer = await download(storage, key, { headers: { range: 'bytes=1000-' } });
    expect(answer.status).toBe(416);
    expect(answer.headers.get('content-range')).toBe('bytes */1000');
  });

  test('read returns the requested range', async () => {
    const key = await store(storage, small, 1000);
    expect(await readAll(storage, key, { start: 100 })).toEqual(small.subarray(100));
    expect(await readAll(storage, key, { start: 100, length: 50 })).toEqual(small.subarray(100, 150));
    expect(await readAll(storage, key, { length: 700 })).toEqual(small.subarray(0, 700));
    expect(await readAll(storage, key, { start: 990, length: 500 })).toEqual(small.subarray(990));
    expect(await readAll(storage, key, { start: 5, length: 0 })).toHaveLength(0);
    expect(await readAll(storage, key, { start: 1000 })).toHaveLength(0);
    expect(await readAll(storage, key, { start: 5000, length: 10 })).toHaveLength(0);
  });

  test('an unknown key is NoSuchObject to read, 404 to a download, and can be removed', async () => {
    const key = newKey();
    await expect(storage.read(key)).rejects.toThrow(NoSuchObject);
    expect((await download(storage, key)).status).toBe(404);
    await storage.remove(key);
  });

  test('a removed object is missing, and can be removed again', async () => {
    const key = await store(storage, small, 1000);
    await storage.remove(key);
    await storage.remove(key);
    await expect(storage.read(key)).rejects.toThrow(NoSuchObject);
    expect((await download(storage, key)).status).toBe(404);
  });

  test('the same complete again changes nothing', async () => {
    const target = await beginUpload(storage);
    const parts = await putParts(storage, target, splitEvenly(twoParts, partSize));
    expect(await storage.complete(target, parts, twoParts.length)).toBe('made');
    expect(await storage.complete(target, parts, twoParts.length)).toBe('found');
    expectBytes(await readAll(storage, target.key), twoParts);
  });

  testOf('same upload completed at once', 'the same complete eight times at once makes one object', async () => {
    for (const bytes of [twoParts, small]) {
      const target = await beginUpload(storage);
      const parts = await putParts(storage, target, splitEvenly(bytes, partSize));
      await Promise.all(Array.from({ length: 8 }, () => storage.complete(target, parts, bytes.length)));
      expectBytes(await readAll(storage, target.key), bytes);
    }
  });

  testOf('checks ETags and parts', 'another ETag, a part that was never sent, no part: a mismatch', async () => {
    const target = await beginUpload(storage);
    const [part = { partNumber: 1, eTag: '' }] = await putParts(storage, target, [small]);
    const unsent = { partNumber: 2, eTag: '"0123456789abcdef0123456789abcdef"' };
    for (const parts of [
      [{ partNumber: 1, eTag: unsent.eTag }],
      [{ partNumber: 1, eTag: '../../1' }],
      [{ partNumber: 1, eTag: '' }],
      [part, unsent],
      [{ ...part, partNumber: 2 }],
      [],
    ]) {
      await expect(storage.complete(target, parts, small.length)).rejects.toThrow(PartsMismatch);
    }
    await expect(storage.read(target.key)).rejects.toThrow(NoSuchObject);
    await storage.complete(target, [part], small.length);
    expectBytes(await readAll(storage, target.key), small);
  });

  test('a repeated part is a mismatch', async () => {
    const target = await beginUpload(storage);
    const [part = { partNumber: 1, eTag: '' }] = await putParts(storage, target, [small]);
    await expect(storage.complete(target, [part, part], 2000)).rejects.toThrow(PartsMismatch);
    await expect(storage.read(target.key)).rejects.toThrow(NoSuchObject);
  });

  test('parts of another total size are a mismatch, and leave no object', async () => {
    for (const size of [999, 1001]) {
      const target = await beginUpload(storage);
      const parts = await putParts(storage, target, [small]);
      await expect(storage.complete(target, parts, size)).rejects.toThrow(PartsMismatch);
      await expect(storage.read(target.key)).rejects.toThrow(NoSuchObject);
    }
  });

  testOf('refuses other sizes', 'a part of another size than its URL says is refused', async () => {
    const target = await beginUpload(storage);
    for (const size of [999, 1001]) {
      const answer = await put(await storage.partUrl(target, { partNumber: 1, size }, 60), small);
      expect([400, 403]).toContain(answer.status);
    }
  });

  test('a part can be sent again, and an upload continues after an interruption', async () => {
    const target = await beginUpload(storage);
    const [first = small, second = small] = splitEvenly(twoParts, partSize);
    await putPart(storage, target, 1, first);
    // As another process, which has only the data of the database.
    const later = { key: target.key, upload: target.upload };
    const parts = [await putPart(storage, later, 1, first), await putPart(storage, later, 2, second)];
    await storage.complete(later, parts, first.length + second.length);
    expectBytes(await readAll(storage, target.key), Buffer.concat([first, second]));
  });

  testOf('checks ETags and parts', 'a part sent again with other bytes takes the place of the former', async () => {
    const target = await beginUpload(storage);
    const former = await putPart(storage, target, 1, randomBytes(1000));
    const latter = await putPart(storage, target, 1, small);
    await expect(storage.complete(target, [former], 1000)).rejects.toThrow(PartsMismatch);
    await storage.complete(target, [latter], 1000);
    expectBytes(await readAll(storage, target.key), small);
  });

  testOf('knows uploads', 'an unknown upload takes no part and completes to a mismatch', async () => {
    const target = { key: newKey(), upload: newKey() };
    const answer = await put(await storage.partUrl(target, { partNumber: 1, size: 1000 }, 60), small);
    expect(answer.status).toBe(404);
    const parts = [{ partNumber: 1, eTag: '"0123456789abcdef0123456789abcdef"' }];
    await expect(storage.complete(target, parts, 1000)).rejects.toThrow(PartsMismatch);
  });

  testOf('aborts', 'an aborted upload is unknown; aborting it again is fine', async () => {
    const target = await beginUpload(storage);
    const url = await storage.partUrl(target, { partNumber: 1, size: 1000 }, 60);
    const parts = await putParts(storage, target, [small]);
    await storage.abort(target);
    await storage.abort(target);
    expect((await put(url, small)).status).toBe(404);
    await expect(storage.complete(target, parts, small.length)).rejects.toThrow(PartsMismatch);
    await expect(storage.read(target.key)).rejects.toThrow(NoSuchObject);
  });

  testOf('checks signatures', 'URLs with another part number, another key or no signature are refused', async () => {
    const target = await beginUpload(storage);
    const url = await storage.partUrl(target, { partNumber: 1, size: 1000 }, 60);
    const otherPart = url.replace(/partNumber=1\b/, 'partNumber=2').replace(/\/1\?/, '/2?');
    expect(otherPart).not.toBe(url);
    expect((await put(otherPart, small)).status).toBe(403);
    const key = await store(storage, small, 1000);
    const otherKey = await storage.downloadUrl(newKey(), { name: 'a.txt', mimeType: 'text/plain' }, 60);
    const stolen = new URL(otherKey);
    stolen.pathname = stolen.pathname.replace(/[^/]+$/, key);
    expect((await fetch(stolen)).status).toBe(403);
  });

  testOf('sets headers', 'a download is an attachment of that name and type', async () => {
    const key = await store(storage, small, 1000);
    const answer = await download(storage, key, { name: 'Report, final 2.pdf' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="Report, final 2.pdf"');
    expect(answer.headers.get('content-type')).toBe('application/pdf');
    expect(answer.headers.get('cache-control')).toMatch(/^private, max-age=\d+$/);
  });

  testOf('checks signatures of Unicode names', 'a download of a Unicode name is signed right', async () => {
    const key = await store(storage, small, 1000);
    const answer = await download(storage, key, { name: "L'été *(früh)* 🎬.pdf" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-disposition')).toContain("filename*=UTF-8''L%27%C3%A9t%C3%A9%20%2A%28fr%C3%BCh");
  });

  test('unsafe keys and upload ids are refused', async () => {
    for (const key of [
      '',
      '.',
      '..',
      '../secret',
      'a/b',
      'a\\b',
      'a.b',
      'a%2fb',
      'a\0b',
      'a\n',
      '.hidden',
      'x'.repeat(129),
    ]) {
      await expect(storage.begin(key)).rejects.toThrow(TypeError);
      await expect(storage.read(key)).rejects.toThrow(TypeError);
      await expect(storage.remove(key)).rejects.toThrow(TypeError);
      await expect(storage.downloadUrl(key, { name: 'a', mimeType: 'text/plain' }, 60)).rejects.toThrow(TypeError);
      await expect(storage.complete({ key, upload: newKey() }, [], 1)).rejects.toThrow();
    }
  });

  testOf('reachable', 'it is reachable', async () => {
    expect(await storage.isReachable()).toBe(true);
  });

  test('only the disk has its own routes', () => {
    expect(storage.router !== undefined).toBe(driver === 'disk');
  });
});

/** Faster than toEqual, which compares large buffers byte by byte. */
function expectBytes(actual: Buffer, expected: Buffer): void {
  expect(actual.length).toBe(expected.length);
  expect(actual.equals(expected), 'the same bytes').toBe(true);
}
