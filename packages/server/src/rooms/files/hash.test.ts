import { expect, test, vi } from 'vitest';
import { openDatabase } from '../../db/open.ts';
import { NoSuchObject } from '../../storage/storage.ts';
import { type House, onEachDatabase } from '../../test/house.ts';
import { complete, sent, sha256, upload, uploadFile } from '../uploads/test/uploads.ts';
import { hashUploadedFile, hashUploadedFiles } from './hash.ts';

const hashOf = async (house: House, id: string) =>
  (await house.people.owner.client.files.get({ params: { id } })).data.sha256;

/** Uploads a file while the storage cannot be read, so that background hashing fails. */
async function unhashed(house: House, bytes: Buffer): Promise<string> {
  const { storage } = house.deps;
  const read = storage.read.bind(storage);
  using spy = vi.spyOn(storage, 'read').mockImplementation(async (key, range) => {
    if (range === undefined) throw new Error('the storage is away');
    return read(key, range);
  });
  const id = await upload(house.people.owner.client, 'FX', house.projectId, bytes);
  await expect.poll(() => spy.mock.calls).toContainEqual([id]);
  return id;
}

onEachDatabase(
  (house) => {
    test('a file that could not be hashed is hashed by a later sweep', async () => {
      const bytes = Buffer.from('later');
      const id = await unhashed(house(), bytes);
      expect(await hashOf(house(), id)).toBeNull();
      await hashUploadedFiles(house().deps);
      expect(await hashOf(house(), id)).toBe(sha256(bytes));
    });

    test('unreadable files do not block others, in any number', async () => {
      const bytes = Buffer.from('behind all others');
      const id = await unhashed(house(), bytes);
      const { db, storage } = house().deps;
      const stored = await db.selectFrom('files').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
      const { folded_name: _, ...row } = stored;
      const lost = Array.from({ length: 45 }, (_, index) => {
        const key = `FX${String(index).padStart(20, '0')}`;
        return { ...row, id: key, storage_key: key, created_at: '2020-01-01 00:00:00.000000' };
      });
      await db.insertInto('files').values(lost).execute();
      await expect(storage.read(lost[0]?.id ?? '')).rejects.toThrow(NoSuchObject);
      await hashUploadedFiles(house().deps);
      expect(await hashOf(house(), id)).toBe(sha256(bytes));
    });

    test('an unreachable database during hashing does not end the process', async () => {
      const id = await uploadFile(house());
      const closed = openDatabase(house().deps.config.database, () => {});
      await closed[Symbol.asyncDispose]();
      const pass = hashUploadedFile({ ...house().deps, db: closed.db }, { id, storage_key: id });
      await expect(pass).resolves.toBeUndefined();
    });

    test('a repeated complete does not hash the file again', async () => {
      const { id, sent: parts } = await sent(house().people.owner.client, 'FX', house().projectId, Buffer.from('once'));
      await complete(house().people.owner.client, id, parts);
      await expect.poll(() => hashOf(house(), id)).not.toBeNull();
      using spy = vi.spyOn(house().deps.storage, 'read');
      await complete(house().people.owner.client, id, parts);
      expect(spy.mock.calls.filter(([key]) => key === id)).toEqual([]);
    });
  },
  { LOG_LEVEL: 'fatal' },
);
