import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { DiskFiles } from './disk-files.ts';
import { PartsMismatch, type Storage, StorageFull, StorageUnavailable } from './storage.ts';
import { type OpenDriver, openOnDisk } from './test/drivers.ts';
import { beginUpload, bytesOf, download, newKey, put, putPart, putParts, readAll, store } from './test/upload.ts';

let opened: OpenDriver;
let storage: Storage;
beforeAll(async () => {
  opened = await openOnDisk();
  storage = opened.storage;
});
afterAll(() => opened[Symbol.asyncDispose]());

const small = randomBytes(1000);
/** The files of an upload, relative to its folder. */
const partsOf = (upload: string) =>
  readdirSync(join(opened.folder, 'parts', upload), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(join(opened.folder, 'parts', upload), join(entry.parentPath, entry.name)));

describe('signatures', () => {
  const downloadUrl = async (seconds = 60) =>
    storage.downloadUrl(await store(storage, small, 1000), { name: 'a b.txt', mimeType: 'text/plain' }, seconds);
  const partUrl = async (seconds = 60) =>
    storage.partUrl(await beginUpload(storage), { partNumber: 1, size: 1000 }, seconds);

  async function expectRefused(answer: Response) {
    expect(answer.status).toBe(403);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(await answer.json()).toMatchObject({ code: 'INVALID_SIGNATURE' });
  }

  test.each(['name', 'type', 'expires', 'signature'])('a download with another %s is refused', async (parameter) => {
    for (const change of changes(parameter)) await expectRefused(await fetch(change(await downloadUrl())));
  });

  test.each(['size', 'expires', 'signature'])('a part with another %s is refused', async (parameter) => {
    for (const change of changes(parameter)) await expectRefused(await put(change(await partUrl()), small));
  });

  test('an added parameter and another path are refused', async () => {
    await expectRefused(await fetch(`${await downloadUrl()}&more=1`));
    const [ours, theirs] = [new URL(await downloadUrl()), new URL(await downloadUrl())];
    await expectRefused(await fetch(`${ours.origin}${theirs.pathname}${ours.search}`));
    const part = await partUrl();
    await expectRefused(await put(part.replace('/1?', '/2?'), small));
    await expectRefused(await put(part.replace('/1?', '/01?'), small));
  });

  test('the signature of one method is not valid for another', async () => {
    const key = await store(storage, small, 1000);
    const sameKey = await storage.partUrl({ key, upload: key }, { partNumber: 1, size: 1000 }, 60);
    await expectRefused(await fetch(sameKey.replace(/\/parts\/.*\?/, `/objects/${key}?`)));
    expect((await fetch(sameKey)).status).toBe(405);
  });

  test('an expired URL is refused', async () => {
    await expectRefused(await fetch(await downloadUrl(0)));
    await expectRefused(await put(await partUrl(-1), small));
  });

  /** The URL with the parameter altered, repeated, empty, and missing. */
  function changes(parameter: string): ((url: string) => string)[] {
    const altered = (alter: (query: URLSearchParams, value: string) => void) => (url: string) => {
      const changed = new URL(url);
      alter(changed.searchParams, changed.searchParams.get(parameter) ?? '');
      return changed.href;
    };
    return [
      altered((query, value) => query.set(parameter, `${value}0`)),
      altered((query, value) =>
        query.set(
          parameter,
          value.replace(/^./, (char) => (char === '1' ? '2' : '1')),
        ),
      ),
      altered((query, value) => query.append(parameter, value)),
      altered((query) => query.set(parameter, '')),
      altered((query) => query.delete(parameter)),
    ];
  }
});

describe('a part', () => {
  test('answers 200 with its MD5 as ETag and no body', async () => {
    const url = await storage.partUrl(await beginUpload(storage), { partNumber: 1, size: 1000 }, 60);
    const answer = await put(url, small);
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(answer.headers.get('etag')).toBe(`"${createHash('md5').update(small).digest('hex')}"`);
  });

  test('of another length is refused with the expected length, with and without Content-Length', async () => {
    const target = await beginUpload(storage);
    const url = await storage.partUrl(target, { partNumber: 1, size: 1000 }, 60);
    for (const size of [999, 1001, 300_000]) {
      for (const body of [new Uint8Array(size), chunked(size)]) {
        const answer = await fetch(url, { method: 'PUT', body, duplex: 'half' });
        expect(answer.status).toBe(400);
        const problem: unknown = await answer.json();
        expect(problem).toMatchObject({ code: 'INVALID_REQUEST', detail: expect.stringContaining('1000 bytes') });
      }
    }
    expect(partsOf(target.upload)).toEqual([]);
    expect((await fetch(url, { method: 'PUT', body: chunked(1000), duplex: 'half' })).status).toBe(200);
  });

  test('that is interrupted leaves no file, and can be sent again', async () => {
    const target = await beginUpload(storage);
    const url = await storage.partUrl(target, { partNumber: 1, size: 1000 }, 60);
    const cut = request(url, { method: 'PUT', headers: { 'content-length': 1000 } }).on('error', () => {});
    cut.write(small.subarray(0, 500));
    await waitUntil(() => partsOf(target.upload).length === 1);
    cut.destroy();
    await waitUntil(() => partsOf(target.upload).length === 0);
    const eTag = createHash('md5').update(small).digest('hex');
    await expect(storage.complete(target, [{ partNumber: 1, eTag }], 1000)).rejects.toThrow(PartsMismatch);
    await storage.complete(target, [await putPart(storage, target, 1, small)], 1000);
    expect(await readAll(storage, target.key)).toEqual(small);
  });

  test('sent 20 times with other bytes keeps only the last body', async () => {
    const target = await beginUpload(storage);
    let last = await putPart(storage, target, 1, small);
    const other = await putPart(storage, target, 11, small);
    for (let times = 0; times < 20; times++) last = await putPart(storage, target, 1, randomBytes(1000));
    const names = [last, other].map(({ partNumber, eTag }) => `${partNumber}/${eTag.replaceAll('"', '')}`);
    expect(partsOf(target.upload).sort()).toEqual(names.sort());
  });

  test('with a former body and a draft left by a crash keeps only the last body', async () => {
    const target = await beginUpload(storage);
    await putPart(storage, target, 1, randomBytes(1000));
    const folder = join(opened.folder, 'parts', target.upload, '1');
    writeFileSync(join(folder, createHash('md5').update('former').digest('hex')), 'former');
    writeFileSync(join(folder, 'draft-left'), small);
    const last = await putPart(storage, target, 1, small);
    expect(partsOf(target.upload).sort()).toEqual([`1/${last.eTag.replaceAll('"', '')}`, '1/draft-left'].sort());
    const draft = { partNumber: 1, eTag: 'draft-left' };
    await expect(storage.complete(target, [draft], 1000)).rejects.toThrow(PartsMismatch);
    await storage.complete(target, [last], 1000);
    expect(await readAll(storage, target.key)).toEqual(small);
  });

  test('of an upload of an earlier version is found, and replaced by the next PUT', async () => {
    const target = { key: newKey(), upload: randomUUID() };
    const folder = join(opened.folder, 'parts', target.upload);
    mkdirSync(folder, { recursive: true });
    const earlier = (partNumber: number, body: Buffer) => {
      const eTag = createHash('md5').update(body).digest('hex');
      writeFileSync(join(folder, `${partNumber}-${eTag}`), body);
      return { partNumber, eTag };
    };
    const kept = [earlier(1, small), earlier(12, small)];
    const former = earlier(2, randomBytes(1000));
    const replaced = await putPart(storage, target, 2, small);
    expect(partsOf(target.upload)).toHaveLength(3);
    await expect(storage.complete(target, [...kept, former], 3000)).rejects.toThrow(PartsMismatch);
    await storage.complete(target, [...kept, replaced], 3000);
    expect(await readAll(storage, target.key)).toEqual(Buffer.concat([small, small, small]));
    expect(existsSync(folder)).toBe(false);
  });

  test('sent again while the former PUT is in flight aborts that one, and leaves one draft on the disk', async () => {
    const target = await beginUpload(storage);
    const url = await storage.partUrl(target, { partNumber: 1, size: 1000 }, 60);
    const begin = () => {
      const sent = request(url, { method: 'PUT', headers: { 'content-length': 1000 } });
      sent.write(small.subarray(0, 500));
      return sent;
    };
    let inFlight = begin();
    await waitUntil(() => partsOf(target.upload).length === 1);
    for (let times = 0; times < 5; times++) {
      const [former] = partsOf(target.upload);
      const replaced = statusOf(inFlight);
      inFlight = begin();
      expect(await replaced).toBe(409);
      await waitUntil(() => partsOf(target.upload).some((name) => name !== former));
      expect(partsOf(target.upload)).toHaveLength(1);
    }
    const replaced = statusOf(inFlight);
    const part = await putPart(storage, target, 1, small);
    expect(await replaced).toBe(409);
    expect(partsOf(target.upload)).toEqual([`1/${part.eTag.replaceAll('"', '')}`]);
    await storage.complete(target, [part], 1000);
  });

  test('with a Content-MD5 is stored if the MD5 matches, else it is 400', async () => {
    const target = await beginUpload(storage);
    const url = await storage.partUrl(target, { partNumber: 1, size: 1000 }, 60);
    const send = (md5: string) =>
      fetch(url, { method: 'PUT', body: new Uint8Array(small), headers: { 'content-md5': md5 } });
    for (const md5 of [createHash('md5').update('other').digest('base64'), 'not an MD5', '']) {
      const answer = await send(md5);
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { code: 'INVALID_REQUEST', detail: expect.stringContaining('Content-MD5') },
      ]);
    }
    expect(partsOf(target.upload)).toEqual([]);
    expect((await send(createHash('md5').update(small).digest('base64'))).status).toBe(200);
  });

  test('is sent with PUT: other methods are 405 with Allow', async () => {
    const url = await storage.partUrl(await beginUpload(storage), { partNumber: 1, size: 1000 }, 60);
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
      const answer = await fetch(url, { method });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'OPTIONS, PUT']);
    }
    const asked = await fetch(url, { method: 'OPTIONS' });
    expect([asked.status, asked.headers.get('allow')]).toEqual([204, 'OPTIONS, PUT']);
  });

  test('in flight when its upload is aborted is 404', async () => {
    const target = await beginUpload(storage);
    const url = await storage.partUrl(target, { partNumber: 1, size: 1000 }, 60);
    const slow = request(url, { method: 'PUT', headers: { 'content-length': 1000 } });
    slow.write(small.subarray(0, 500));
    await waitUntil(() => partsOf(target.upload).length === 1);
    await storage.abort(target);
    slow.end(small.subarray(500));
    expect(await statusOf(slow)).toBe(404);
    expect(existsSync(join(opened.folder, 'parts', target.upload))).toBe(false);
    expect(readdirSync(join(opened.folder, 'trash'))).toEqual([]);
  });

  const chunked = (size: number) =>
    new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(size));
        controller.close();
      },
    });
});

describe('a complete', () => {
  test('leaves the object and no parts', async () => {
    const target = await beginUpload(storage);
    await storage.complete(target, await putParts(storage, target, [small, small]), 2000);
    expect(existsSync(join(opened.folder, 'parts', target.upload))).toBe(false);
    expect(readdirSync(join(opened.folder, 'objects', target.key.slice(-2)))).toContain(target.key);
  });

  test('restarts after a crash half way, and cleans up after a crash at its end', async () => {
    const target = await beginUpload(storage);
    const parts = await putParts(storage, target, [small, small]);
    const folder = join(opened.folder, 'parts', target.upload);
    writeFileSync(join(folder, 'draft-left'), 'half');
    await storage.complete(target, parts, 2000);
    mkdirSync(folder);
    writeFileSync(join(folder, `1-${createHash('md5').update(small).digest('hex')}`), small);
    await storage.complete(target, parts, 2000);
    expect(existsSync(folder)).toBe(false);
    expect(await readAll(storage, target.key)).toEqual(Buffer.concat([small, small]));
  });
});

describe('a download', () => {
  test.each([
    ['text/html', '<script>alert(1)</script>'],
    ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ['text/markdown', '[x](javascript:alert(1))'],
  ])('of %s is an attachment without scripts', async (mimeType, text) => {
    const answer = await download(storage, await store(storage, Buffer.from(text), 1000), { name: 'a.x', mimeType });
    expect(answer.headers.get('content-type')).toBe(mimeType);
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment;/);
    expect(answer.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('cache-control')).toMatch(/^private, max-age=(59|60)$/);
    expect(await answer.text()).toBe(text);
  });

  test.each([
    'plain.txt',
    'två ord.txt',
    '映画.mp4',
    '🎬 final (2).mov',
    `it's "quoted" \\ 100%.txt`,
    "*'()!~;=,.txt",
    'مرحبا.pdf',
    'e\u0301.png',
    'a\u202egnp.exe',
  ])('is named %s', async (name) => {
    const answer = await download(storage, await store(storage, small, 1000), { name });
    expect(answer.status).toBe(200);
    expect(shownName(answer.headers.get('content-disposition') ?? '')).toBe(name);
  });

  test('with a lone surrogate or a line break in its name, or an invalid type, has valid headers', async () => {
    const key = await store(storage, small, 1000);
    const answer = await download(storage, key, { name: 'a\ud83d\r\nX-Evil: 1', mimeType: 'text/html\r\nX-Evil: 1' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-evil')).toBeNull();
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(shownName(answer.headers.get('content-disposition') ?? '')).toBe('a\ufffd\r\nX-Evil: 1');
  });

  test('answers HEAD, If-Range, If-None-Match and If-Match', async () => {
    const key = await store(storage, small, 1000);
    const head = await download(storage, key, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '1000', '']);
    expect(head.headers.get('accept-ranges')).toBe('bytes');
    const eTag = head.headers.get('etag') ?? '';
    const range = 'bytes=10-19';
    const same = await download(storage, key, { headers: { range, 'if-range': eTag } });
    expect([same.status, await bytesOf(same)]).toEqual([206, small.subarray(10, 20)]);
    const other = await download(storage, key, { headers: { range, 'if-range': '"other"' } });
    expect([other.status, await bytesOf(other)]).toEqual([200, small]);
    // Not with fetch, which adds Cache-Control: no-cache to If-None-Match.
    const url = await storage.downloadUrl(key, { name: 'a', mimeType: 'text/plain' }, 60);
    expect(await statusOf(request(url, { headers: { 'if-none-match': eTag } }).end())).toBe(304);
    const changed = await download(storage, key, { headers: { 'if-match': '"other"' } });
    expect(changed.headers.get('content-type')).toContain('application/problem+json');
    expect([changed.status, await changed.json()]).toMatchObject([412, { code: 'PRECONDITION_FAILED' }]);
  });

  test('accepts GET and HEAD: other methods are 405 with Allow', async () => {
    const key = await store(storage, small, 1000);
    for (const method of ['PUT', 'POST', 'DELETE']) {
      const answer = await download(storage, key, { method });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
      expect(await answer.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
    }
  });

  test('that is refused has no headers of the object', async () => {
    const key = await store(storage, small, 1000);
    const answer = await download(storage, key, { headers: { range: 'bytes=5000-' } });
    expect(answer.headers.get('content-range')).toBe('bytes */1000');
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect([answer.status, await answer.json()]).toMatchObject([416, { code: 'RANGE_NOT_SATISFIABLE' }]);
    for (const name of ['content-disposition', 'cache-control', 'etag']) expect(answer.headers.get(name)).toBeNull();
    const missing = await download(storage, newKey());
    expect(missing.headers.get('content-type')).toContain('application/problem+json');
    expect(missing.headers.get('cache-control')).toBeNull();
    expect(await missing.json()).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('of a path outside of the directory is 404', async () => {
    const { origin, search } = new URL(await storage.downloadUrl(newKey(), { name: 'a', mimeType: 'a/b' }, 60));
    for (const path of ['..%2f..%2fetc%2fpasswd', '%2e%2e/secret', '%00', 'a%5c..%5cb', '.hidden']) {
      const answer = await fetch(`${origin}/blobs/objects/${path}${search}`);
      expect([403, 404]).toContain(answer.status);
    }
  });

  /** As a browser reads it (RFC 6266). */
  function shownName(disposition: string): string | undefined {
    const extended = /filename\*=UTF-8''([\w!#$&+.^`|~%-]+)$/.exec(disposition)?.[1];
    return extended === undefined ? /filename="([^"\\]*)"$/.exec(disposition)?.[1] : decodeURIComponent(extended);
  }
});

describe('a disk without write access', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('that is full leaves no part, and works again when there is space', async () => {
    const files = new DiskFiles(opened.folder);
    const upload = await files.begin();
    const target = { key: newKey(), upload };
    const body = async function* () {
      yield small;
    };
    await onBadDisk('writeFile', 'ENOSPC', () =>
      expect(files.putPart(upload, { partNumber: 1, size: 1000 }, body())).rejects.toThrow(StorageFull),
    );
    await onBadDisk('datasync', 'ENOSPC', () =>
      expect(files.putPart(upload, { partNumber: 1, size: 1000 }, body())).rejects.toThrow(StorageFull),
    );
    expect(partsOf(upload)).toEqual([]);
    const eTag = await files.putPart(upload, { partNumber: 1, size: 1000 }, body());
    await files.putPart(upload, { partNumber: 2, size: 1000 }, body());
    const parts = [1, 2].map((partNumber) => ({ partNumber, eTag }));
    await onBadDisk('writeFile', 'ENOSPC', () =>
      expect(files.complete(target, parts, 2000)).rejects.toThrow(StorageFull),
    );
    expect(partsOf(upload)).toHaveLength(2);
    await files.complete(target, parts, 2000);
    expect(await readAll(storage, target.key)).toHaveLength(2000);
  });

  test.each([
    ['EDQUOT', StorageFull],
    ['EFBIG', StorageFull],
    ['EACCES', StorageUnavailable],
    ['EPERM', StorageUnavailable],
    ['EROFS', StorageUnavailable],
    ['EIO', StorageUnavailable],
  ])('%s is mapped to %o', async (code, trouble) => {
    const files = new DiskFiles(opened.folder);
    const upload = await files.begin();
    const body = async function* () {
      yield small;
    };
    await onBadDisk('writeFile', code, () =>
      expect(files.putPart(upload, { partNumber: 1, size: 1000 }, body())).rejects.toThrow(trouble),
    );
    expect(partsOf(upload)).toEqual([]);
  });

  test('a file in place of a directory is StorageUnavailable', async () => {
    const files = new DiskFiles(join(opened.folder, 'replaced'));
    writeFileSync(join(opened.folder, 'replaced'), '');
    await expect(files.begin()).rejects.toThrow(StorageUnavailable);
    const target = { key: newKey(), upload: randomUUID() };
    await expect(files.complete(target, [], 0)).rejects.toThrow(StorageUnavailable);
    await expect(files.read(target.key)).rejects.toThrow(StorageUnavailable);
  });

  async function onBadDisk(method: 'writeFile' | 'datasync', code: string, attempt: () => Promise<void>) {
    await using probe = await open(import.meta.filename);
    const prototype: FileHandle = Object.getPrototypeOf(probe);
    const spy = vi.spyOn(prototype, method);
    spy.mockRejectedValueOnce(Object.assign(new Error(code), { code }));
    await attempt();
    expect(spy).toHaveBeenCalledOnce();
    spy.mockRestore();
  }
});

test('the next start deletes what a crash left in the trash', async () => {
  const left = join(opened.folder, 'trash', randomUUID());
  mkdirSync(left, { recursive: true });
  writeFileSync(join(left, '1-part'), 'x');
  await new DiskFiles(opened.folder).begin();
  expect(existsSync(left)).toBe(false);
});

test('a directory that cannot be created is not reachable', async () => {
  writeFileSync(join(opened.folder, 'a-file'), '');
  expect(await new DiskFiles(join(opened.folder, 'a-file')).isReachable()).toBe(false);
});

async function waitUntil(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !holds(); tries++) await delay(10);
  expect(holds()).toBe(true);
}

async function statusOf(sent: ClientRequest): Promise<number | undefined> {
  const [answer] = await once(sent, 'response');
  answer.resume();
  return answer.statusCode;
}
