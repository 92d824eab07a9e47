import { randomBytes, randomInt } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DiskFiles, UnknownUpload } from './disk-files.ts';
import { WrongSize } from './disk-parts.ts';
import { PartsMismatch } from './storage.ts';
import { onDisk } from './test/on-disk.ts';
import { newKey } from './test/upload.ts';

const SIZE = 3000;
const PLAN = [
  { partNumber: 1, offset: 0, size: 1000 },
  { partNumber: 2, offset: 1000, size: 1000 },
  { partNumber: 3, offset: 2000, size: 1000 },
] as const;
const [first, second, third] = PLAN;
const disk = onDisk();

/** Two servers on one directory. */
async function setUp() {
  const here = new DiskFiles(disk.folder);
  const there = new DiskFiles(disk.folder);
  const target = { key: newKey(), upload: await here.begin() };
  const folder = join(disk.folder, 'parts', target.upload);
  const put = async (files: DiskFiles, part: (typeof PLAN)[number], bytes: Buffer) => ({
    partNumber: part.partNumber,
    eTag: await files.putPart(target.upload, part, pieces(bytes)),
  });
  return {
    here,
    there,
    target,
    folder,
    put,
    /** The inode of the joined parts: that of the object if nothing was copied. */
    joined: () => statSync(join(folder, 'whole')).ino,
    object: () => {
      const path = join(here.objects, here.nameOf(target.key));
      return { ino: statSync(path).ino, bytes: readFileSync(path) };
    },
  };
}

async function* pieces(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 300) yield Buffer.from(bytes.subarray(at, at + 300));
}

/** A body that stops after 600 bytes until it may continue. */
function stalled(bytes: Buffer) {
  const reached = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  async function* body() {
    yield Buffer.from(bytes.subarray(0, 600));
    reached.resolve();
    await go.promise;
    yield Buffer.from(bytes.subarray(600));
  }
  return { body: body(), reached: reached.promise, continue: go.resolve };
}

describe('parts with an offset', () => {
  test('in any order become the object without a copy', async () => {
    const { here, there, target, put, joined, object } = await setUp();
    const bytes = randomBytes(SIZE);
    const last = await put(here, third, bytes.subarray(2000));
    const parts = await Promise.all([
      put(there, first, bytes.subarray(0, 1000)),
      put(here, second, bytes.subarray(1000, 2000)),
    ]);
    const ino = joined();
    expect(await there.complete(target, [...parts, last], SIZE)).toBe('made');
    expect(object()).toEqual({ ino, bytes });
    expect(await here.complete(target, [...parts, last], SIZE)).toBe('found');
    expect(readdirSync(join(disk.folder, 'parts'))).not.toContain(target.upload);
  });

  test('one that was interrupted is sent again to the same place', async () => {
    const { here, target, put, joined, object } = await setUp();
    const bytes = randomBytes(SIZE);
    await expect(put(here, second, bytes.subarray(0, 700))).rejects.toThrow(WrongSize);
    const parts = [];
    for (const part of PLAN) parts.push(await put(here, part, bytes.subarray(part.offset, part.offset + 1000)));
    const ino = joined();
    await here.complete(target, parts, SIZE);
    expect(object()).toEqual({ ino, bytes });
  });

  test('an acknowledged part survives a PUT of other bytes that fails', async () => {
    const { here, there, target, put, joined, object } = await setUp();
    const bytes = randomBytes(SIZE);
    const parts = [];
    for (const part of PLAN) parts.push(await put(here, part, bytes.subarray(part.offset, part.offset + 1000)));
    for (const files of [here, there]) {
      await expect(put(files, first, randomBytes(900))).rejects.toThrow(WrongSize);
    }
    const ino = joined();
    await here.complete(target, parts, SIZE);
    expect(object()).toEqual({ ino, bytes });
  });

  test('the last of several bodies counts; the same bytes again need no file', async () => {
    const { here, target, put, object } = await setUp();
    const bytes = randomBytes(SIZE);
    const former = await put(here, first, randomBytes(1000));
    const parts = [await put(here, first, bytes.subarray(0, 1000))];
    for (const part of [second, third, second])
      parts[part.partNumber - 1] = await put(here, part, bytes.subarray(part.offset, part.offset + 1000));
    const own = disk.partsOf(target.upload).filter((name) => /\/[0-9a-f]{32}$/.test(name));
    expect(own).toEqual([`1/${parts[0]?.eTag}`]);
    await expect(here.complete(target, [former, ...parts.slice(1)], SIZE)).rejects.toThrow(PartsMismatch);
    await here.complete(target, parts, SIZE);
    expect(object().bytes).toEqual(bytes);
  });

  test('a PUT in flight at another server does not change the part or the object', async () => {
    const { here, there, target, put, object } = await setUp();
    const bytes = randomBytes(SIZE);
    const slow = stalled(randomBytes(1000));
    const inFlight = there.putPart(target.upload, first, slow.body);
    const refused = expect(inFlight).rejects.toThrow(UnknownUpload);
    await slow.reached;
    const parts = [];
    for (const part of PLAN) parts.push(await put(here, part, bytes.subarray(part.offset, part.offset + 1000)));
    await here.complete(target, parts, SIZE);
    slow.continue();
    await refused;
    expect(object().bytes).toEqual(bytes);
  });

  test('after a crash during a PUT, the part is sent again', async () => {
    const { target, folder, there, put, object } = await setUp();
    const bytes = randomBytes(SIZE);
    await mkdir(join(folder, '2'));
    writeFileSync(join(folder, '2', 'claim'), '');
    writeFileSync(join(folder, 'whole'), randomBytes(1500));
    const lost = { partNumber: 2, eTag: 'f'.repeat(32) };
    const parts = [await put(there, first, bytes.subarray(0, 1000)), await put(there, third, bytes.subarray(2000))];
    await expect(there.complete(target, [...parts, lost], SIZE)).rejects.toThrow(PartsMismatch);
    parts.splice(1, 0, await put(there, second, bytes.subarray(1000, 2000)));
    await there.complete(target, parts, SIZE);
    expect(object().bytes).toEqual(bytes);
  });

  test('are the acknowledged bytes after 30 random sequences of PUTs at two servers', async () => {
    for (let times = 0; times < 30; times++) {
      const { here, there, target, put, object } = await setUp();
      const bodies = new Map<number, { bytes: Buffer; eTag: string }>();
      for (let puts = 0; puts < 12 || bodies.size < PLAN.length; puts++) {
        const part = PLAN[randomInt(PLAN.length)] ?? first;
        const files = randomInt(2) === 0 ? here : there;
        const bytes =
          randomInt(4) === 0 ? (bodies.get(part.partNumber)?.bytes ?? randomBytes(1000)) : randomBytes(1000);
        if (randomInt(3) === 0) await expect(put(files, part, randomBytes(randomInt(1000)))).rejects.toThrow(WrongSize);
        else bodies.set(part.partNumber, { bytes, eTag: (await put(files, part, bytes)).eTag });
      }
      const stored = [...bodies].sort(([a], [b]) => a - b);
      const parts = stored.map(([partNumber, { eTag }]) => ({ partNumber, eTag }));
      await here.complete(target, parts, SIZE);
      expect(object().bytes).toEqual(Buffer.concat(stored.map(([, { bytes }]) => bytes)));
    }
  });
});
