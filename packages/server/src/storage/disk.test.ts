import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { DiskFiles } from './disk-files.ts';
import { PartsMismatch, StorageFull, StorageUnavailable } from './storage.ts';
import { onDisk } from './test/on-disk.ts';
import { newKey, readAll } from './test/upload.ts';

const disk = onDisk();
const small = randomBytes(1000);

describe('a disk without write access', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('that is full leaves no part, and works again when there is space', async () => {
    const files = new DiskFiles(disk.folder);
    const upload = await files.begin();
    const target = { key: newKey(), upload };
    const body = async function* () {
      yield Buffer.from(small);
    };
    await onBadDisk('writev', 'ENOSPC', () =>
      expect(files.putPart(upload, { partNumber: 1, size: 1000 }, body())).rejects.toThrow(StorageFull),
    );
    await onBadDisk('datasync', 'ENOSPC', () =>
      expect(files.putPart(upload, { partNumber: 1, size: 1000 }, body())).rejects.toThrow(StorageFull),
    );
    expect(disk.partsOf(upload)).toEqual([]);
    const send = async (partNumber: number) => ({
      partNumber,
      eTag: await files.putPart(upload, { partNumber, size: 1000 }, body()),
    });
    const parts = [await send(1), await send(2)];
    await onBadDisk('writev', 'ENOSPC', () => expect(files.complete(target, parts, 2000)).rejects.toThrow(StorageFull));
    expect(disk.partsOf(upload)).toHaveLength(2);
    await files.complete(target, parts, 2000);
    expect(await readAll(disk.storage, target.key)).toHaveLength(2000);
  });

  test('that fails to flush the beginning of a part refuses the part', async () => {
    const files = new DiskFiles(disk.folder);
    const upload = await files.begin();
    const body = async function* () {
      for (let chunk = 0; chunk < 10; chunk++) yield randomBytes(1024 * 1024);
    };
    const part = { partNumber: 1, offset: 0, size: 10 * 1024 * 1024 };
    await onBadDisk('datasync', 'EIO', () =>
      expect(files.putPart(upload, part, body())).rejects.toThrow(StorageUnavailable),
    );
    await expect(
      files.complete({ key: newKey(), upload }, [{ partNumber: 1, eTag: 'f'.repeat(32) }], part.size),
    ).rejects.toThrow(PartsMismatch);
    expect(disk.partsOf(upload)).toEqual(['whole']);
    expect(await files.putPart(upload, part, body())).toMatch(/^[0-9a-f]{32}$/);
  });

  test.each([
    ['EDQUOT', StorageFull],
    ['EFBIG', StorageFull],
    ['EACCES', StorageUnavailable],
    ['EPERM', StorageUnavailable],
    ['EROFS', StorageUnavailable],
    ['EIO', StorageUnavailable],
  ])('%s is mapped to %o', async (code, trouble) => {
    const files = new DiskFiles(disk.folder);
    const upload = await files.begin();
    const body = async function* () {
      yield Buffer.from(small);
    };
    await onBadDisk('writev', code, () =>
      expect(files.putPart(upload, { partNumber: 1, size: 1000 }, body())).rejects.toThrow(trouble),
    );
    expect(disk.partsOf(upload)).toEqual([]);
  });

  test('a file in place of a directory is StorageUnavailable', async () => {
    const files = new DiskFiles(join(disk.folder, 'replaced'));
    writeFileSync(join(disk.folder, 'replaced'), '');
    await expect(files.begin()).rejects.toThrow(StorageUnavailable);
    const target = { key: newKey(), upload: randomUUID() };
    await expect(files.complete(target, [], 0)).rejects.toThrow(StorageUnavailable);
    await expect(files.read(target.key)).rejects.toThrow(StorageUnavailable);
  });

  async function onBadDisk(method: 'writev' | 'datasync', code: string, attempt: () => Promise<void>) {
    await using probe = await open(import.meta.filename);
    const prototype: FileHandle = Object.getPrototypeOf(probe);
    const spy = vi.spyOn(prototype, method);
    spy.mockRejectedValueOnce(Object.assign(new Error(code), { code }));
    await attempt();
    expect(spy).toHaveBeenCalledOnce();
    spy.mockRestore();
  }
});

test('a start deletes drafts that a crash left an hour ago, and keeps those of other servers', async () => {
  const trash = join(disk.folder, 'trash');
  mkdirSync(trash, { recursive: true });
  const [old, young] = [join(trash, 'draft-old'), join(trash, 'draft-young')];
  for (const path of [old, young]) writeFileSync(path, 'x');
  const twoHoursAgo = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(old, twoHoursAgo, twoHoursAgo);
  await new DiskFiles(disk.folder).put(newKey(), [Buffer.from('x')]);
  expect([old, young].map((path) => existsSync(path))).toEqual([false, true]);
});

test('the next start deletes what a crash left in the trash', async () => {
  const left = join(disk.folder, 'trash', randomUUID());
  mkdirSync(left, { recursive: true });
  writeFileSync(join(left, '1-part'), 'x');
  await new DiskFiles(disk.folder).begin();
  expect(existsSync(left)).toBe(false);
});

test('a directory that cannot be created is not reachable', async () => {
  writeFileSync(join(disk.folder, 'a-file'), '');
  expect(await new DiskFiles(join(disk.folder, 'a-file')).isReachable()).toBe(false);
});
