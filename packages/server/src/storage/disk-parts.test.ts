import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { PartsMismatch } from './storage.ts';
import { onDisk, statusOf } from './test/on-disk.ts';
import { beginUpload, newKey, put, putPart, putParts, readAll } from './test/upload.ts';

const disk = onDisk();
const small = randomBytes(1000);
const UNKNOWN = 'f'.repeat(32);

describe('a part', () => {
  test('answers 200 with an ETag and no body; the same bytes again have the same ETag, others another', async () => {
    const url = await disk.storage.partUrl(await beginUpload(disk.storage), { partNumber: 1, size: 1000 }, 60);
    const eTags: (string | null)[] = [];
    for (const bytes of [small, small, randomBytes(1000)]) {
      const answer = await put(url, bytes);
      expect([answer.status, await answer.text()]).toEqual([200, '']);
      eTags.push(answer.headers.get('etag'));
    }
    const [first, again, other] = eTags;
    expect([again, other]).toEqual([
      expect.stringMatching(/^"[0-9a-f]{32}"$/),
      expect.stringMatching(/^"[0-9a-f]{32}"$/),
    ]);
    expect([first === again, again === other]).toEqual([true, false]);
  });

  test('of another length is refused with the expected length, with and without Content-Length', async () => {
    const target = await beginUpload(disk.storage);
    const url = await disk.storage.partUrl(target, { partNumber: 1, size: 1000 }, 60);
    for (const size of [999, 1001, 300_000]) {
      for (const body of [new Uint8Array(size), chunked(size)]) {
        const answer = await fetch(url, { method: 'PUT', body, duplex: 'half' });
        expect(answer.status).toBe(400);
        const problem: unknown = await answer.json();
        expect(problem).toMatchObject({ code: 'INVALID_REQUEST', detail: expect.stringContaining('1000 bytes') });
      }
    }
    expect(disk.partsOf(target.upload)).toEqual([]);
    expect((await fetch(url, { method: 'PUT', body: chunked(1000), duplex: 'half' })).status).toBe(200);
  });

  test('that is interrupted leaves no file, and can be sent again', async () => {
    const target = await beginUpload(disk.storage);
    const url = await disk.storage.partUrl(target, { partNumber: 1, size: 1000 }, 60);
    const cut = request(url, { method: 'PUT', headers: { 'content-length': 1000 } }).on('error', () => {});
    cut.write(small.subarray(0, 500));
    await waitUntil(() => disk.partsOf(target.upload).length === 1);
    cut.destroy();
    await waitUntil(() => disk.partsOf(target.upload).length === 0);
    await expect(disk.storage.complete(target, [{ partNumber: 1, eTag: UNKNOWN }], 1000)).rejects.toThrow(
      PartsMismatch,
    );
    await disk.storage.complete(target, [await putPart(disk.storage, target, 1, small)], 1000);
    expect(await readAll(disk.storage, target.key)).toEqual(small);
  });

  test('sent 20 times with other bytes keeps only the last body', async () => {
    const target = await beginUpload(disk.storage);
    let last = await putPart(disk.storage, target, 1, small);
    const other = await putPart(disk.storage, target, 11, small);
    for (let times = 0; times < 20; times++) last = await putPart(disk.storage, target, 1, randomBytes(1000));
    const names = [last, other].map(({ partNumber, eTag }) => `${partNumber}/${eTag.replaceAll('"', '')}`);
    expect(disk.partsOf(target.upload).sort()).toEqual(names.sort());
  });

  test('with a former body and a draft left by a crash keeps only the last body', async () => {
    const target = await beginUpload(disk.storage);
    await putPart(disk.storage, target, 1, randomBytes(1000));
    const folder = join(disk.folder, 'parts', target.upload, '1');
    writeFileSync(join(folder, UNKNOWN), 'former');
    writeFileSync(join(folder, 'draft-left'), small);
    const last = await putPart(disk.storage, target, 1, small);
    expect(disk.partsOf(target.upload).sort()).toEqual([`1/${last.eTag.replaceAll('"', '')}`, '1/draft-left'].sort());
    const draft = { partNumber: 1, eTag: 'draft-left' };
    await expect(disk.storage.complete(target, [draft], 1000)).rejects.toThrow(PartsMismatch);
    await disk.storage.complete(target, [last], 1000);
    expect(await readAll(disk.storage, target.key)).toEqual(small);
  });

  test('of an upload of an earlier version is found, and replaced by the next PUT', async () => {
    const target = { key: newKey(), upload: randomUUID() };
    const folder = join(disk.folder, 'parts', target.upload);
    mkdirSync(folder, { recursive: true });
    const earlier = (partNumber: number, body: Buffer) => {
      const eTag = createHash('md5').update(body).digest('hex');
      writeFileSync(join(folder, `${partNumber}-${eTag}`), body);
      return { partNumber, eTag };
    };
    const kept = [earlier(1, small), earlier(12, small)];
    const former = earlier(2, randomBytes(1000));
    const replaced = await putPart(disk.storage, target, 2, small);
    expect(disk.partsOf(target.upload)).toHaveLength(3);
    await expect(disk.storage.complete(target, [...kept, former], 3000)).rejects.toThrow(PartsMismatch);
    await disk.storage.complete(target, [...kept, replaced], 3000);
    expect(await readAll(disk.storage, target.key)).toEqual(Buffer.concat([small, small, small]));
    expect(existsSync(folder)).toBe(false);
  });

  test('sent again while the former PUT is in flight aborts that one, and leaves one draft on the disk', async () => {
    const target = await beginUpload(disk.storage);
    const url = await disk.storage.partUrl(target, { partNumber: 1, size: 1000 }, 60);
    const begin = () => {
      const sent = request(url, { method: 'PUT', headers: { 'content-length': 1000 } });
      sent.write(small.subarray(0, 500));
      return sent;
    };
    let inFlight = begin();
    await waitUntil(() => disk.partsOf(target.upload).length === 1);
    for (let times = 0; times < 5; times++) {
      const [former] = disk.partsOf(target.upload);
      const replaced = statusOf(inFlight);
      inFlight = begin();
      expect(await replaced).toBe(409);
      await waitUntil(() => disk.partsOf(target.upload).some((name) => name !== former));
      expect(disk.partsOf(target.upload)).toHaveLength(1);
    }
    const replaced = statusOf(inFlight);
    const part = await putPart(disk.storage, target, 1, small);
    expect(await replaced).toBe(409);
    expect(disk.partsOf(target.upload)).toEqual([`1/${part.eTag.replaceAll('"', '')}`]);
    await disk.storage.complete(target, [part], 1000);
  });

  test('with a Content-MD5 is stored if the MD5 matches, else it is 400', async () => {
    const target = await beginUpload(disk.storage);
    const url = await disk.storage.partUrl(target, { partNumber: 1, size: 1000 }, 60);
    const send = (md5: string) =>
      fetch(url, { method: 'PUT', body: new Uint8Array(small), headers: { 'content-md5': md5 } });
    for (const md5 of [createHash('md5').update('other').digest('base64'), 'not an MD5', '']) {
      const answer = await send(md5);
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { code: 'INVALID_REQUEST', detail: expect.stringContaining('Content-MD5') },
      ]);
    }
    expect(disk.partsOf(target.upload)).toEqual([]);
    expect((await send(createHash('md5').update(small).digest('base64'))).status).toBe(200);
  });

  test('is sent with PUT: other methods are 405 with Allow', async () => {
    const url = await disk.storage.partUrl(await beginUpload(disk.storage), { partNumber: 1, size: 1000 }, 60);
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
      const answer = await fetch(url, { method });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'OPTIONS, PUT']);
    }
    const asked = await fetch(url, { method: 'OPTIONS' });
    expect([asked.status, asked.headers.get('allow')]).toEqual([204, 'OPTIONS, PUT']);
  });

  test('in flight when its upload is aborted is 404', async () => {
    const target = await beginUpload(disk.storage);
    const url = await disk.storage.partUrl(target, { partNumber: 1, size: 1000 }, 60);
    const slow = request(url, { method: 'PUT', headers: { 'content-length': 1000 } });
    slow.write(small.subarray(0, 500));
    await waitUntil(() => disk.partsOf(target.upload).length === 1);
    await disk.storage.abort(target);
    slow.end(small.subarray(500));
    expect(await statusOf(slow)).toBe(404);
    expect(existsSync(join(disk.folder, 'parts', target.upload))).toBe(false);
    expect(readdirSync(join(disk.folder, 'trash'))).toEqual([]);
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
    const target = await beginUpload(disk.storage);
    await disk.storage.complete(target, await putParts(disk.storage, target, [small, small]), 2000);
    expect(existsSync(join(disk.folder, 'parts', target.upload))).toBe(false);
    expect(readdirSync(join(disk.folder, 'objects', target.key.slice(-2)))).toContain(target.key);
  });

  test('restarts after a crash half way, and cleans up after a crash at its end', async () => {
    const target = await beginUpload(disk.storage);
    const parts = await putParts(disk.storage, target, [small, small]);
    const folder = join(disk.folder, 'parts', target.upload);
    writeFileSync(join(folder, 'draft-left'), 'half');
    await disk.storage.complete(target, parts, 2000);
    mkdirSync(folder);
    writeFileSync(join(folder, `1-${createHash('md5').update(small).digest('hex')}`), small);
    await disk.storage.complete(target, parts, 2000);
    expect(existsSync(folder)).toBe(false);
    expect(await readAll(disk.storage, target.key)).toEqual(Buffer.concat([small, small]));
  });
});

async function waitUntil(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 200 && !holds(); tries++) await delay(10);
  expect(holds()).toBe(true);
}
