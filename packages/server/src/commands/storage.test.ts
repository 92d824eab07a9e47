import { existsSync } from 'node:fs';
import { mkdir, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { upload } from '@review/client';
import { expect, test } from 'vitest';
import { newId } from '../db/ids.ts';
import { now } from '../db/time.ts';
import { scheduleBlobDeletion } from '../rooms/uploads/queries.ts';
import { store } from '../storage/test/upload.ts';
import { onEachDatabase } from '../test/house.ts';
import { review, reviewJson } from '../test/review.ts';

interface Found {
  count: number;
  bytes: number;
  shown: { key: string }[];
}

onEachDatabase((house) => {
  const folder = () => house().deps.config.storageUrl.replace('file:', '');
  const settings = () => ({ DATABASE_URL: house().databaseUrl, STORAGE_URL: house().deps.config.storageUrl });
  const pathOf = (key: string) => join(folder(), 'objects', key.slice(-2), key);
  const age = (key: string) => utimes(pathOf(key), new Date(0), new Date(0));
  const bytes = new Uint8Array(1000).fill(7);
  const uploadFile = async () =>
    (await upload(house().people.owner.client, { to: { project: house().projectId }, source: bytes, name: 'a.bin' }))
      .id;
  const attach = async () => {
    const to = { project: house().projectId, kind: 'generation' } as const;
    return (await upload(house().people.owner.client, { to, source: bytes, name: 'a.png' })).id;
  };

  /** An object without a row, as after restoring an older database. */
  async function stray(): Promise<string> {
    const key = await store(house().deps.storage, Buffer.from(bytes), 10_000, newId('FX'));
    await age(key);
    return key;
  }

  test('gc lists objects without a row, removes them with --delete, and keeps all others', async () => {
    const { db, storage } = house().deps;
    const kept = [await uploadFile(), await attach()];
    const pending = await stray();
    await db.transaction().execute((trx) => scheduleBlobDeletion(trx, [{ key: pending, upload: null }], now()));
    const young = await store(storage, Buffer.from(bytes), 10_000, newId('GA'));
    for (const key of kept) await age(key);
    const foreign = join(folder(), 'objects', kept[0]?.slice(-2) ?? '', 'notes.txt');
    await writeFile(foreign, 'not ours');
    await utimes(foreign, new Date(0), new Date(0));
    const strays = [await stray(), await stray()].toSorted();

    const gc = (...words: string[]) => reviewJson<Found & { deleted: boolean }>(settings(), 'storage', 'gc', ...words);
    const listed = await gc();
    expect(listed).toMatchObject({ deleted: false, count: 2, bytes: 2 * bytes.length });
    expect(listed.shown.map(({ key }) => key).toSorted()).toEqual(strays);
    expect(strays.map((key) => existsSync(pathOf(key)))).toEqual([true, true]);

    expect(await gc('--delete')).toMatchObject({ deleted: true, count: 2 });
    expect(strays.map((key) => existsSync(pathOf(key)))).toEqual([false, false]);
    expect([...kept, pending, young].map((key) => existsSync(pathOf(key)))).toEqual([true, true, true, true]);
    expect(existsSync(foreign)).toBe(true);
    expect(await gc('--delete')).toMatchObject({ count: 0, shown: [] });
  });

  test('gc lists unfinished uploads without a row, aborts them with --delete, and keeps all others', async () => {
    const { client } = house().people.owner;
    const { db, storage } = house().deps;
    const partsOf = (name: string) => join(folder(), 'parts', name);
    const begin = async (isOld: boolean) => {
      const name = await storage.begin(newId('FX'));
      if (isOld) await utimes(partsOf(name), new Date(0), new Date(0));
      return name;
    };
    const body = { name: 'a.bin', size: 1 };
    const { data } = await client.files.startUpload({ params: { id: house().projectId }, body });
    const row = await db.selectFrom('uploads').selectAll().where('id', '=', data.id).executeTakeFirstOrThrow();
    const underWay = row.storage_upload ?? '';
    await utimes(partsOf(underWay), new Date(0), new Date(0));
    const pending = await begin(true);
    await db.transaction().execute((trx) => scheduleBlobDeletion(trx, [{ key: newId('FX'), upload: pending }], now()));
    const kept = [underWay, pending, await begin(false), 'lost+found'];
    await mkdir(partsOf('lost+found'));
    await utimes(partsOf('lost+found'), new Date(0), new Date(0));
    const abandoned = [await begin(true), await begin(true)].toSorted();

    interface Answer {
      abandoned: { count: number; shown: { upload: string }[] };
    }
    const check = await reviewJson<Answer>(settings(), 'storage', 'check');
    expect(check.abandoned.count).toBe(2);
    const listed = await reviewJson<Answer>(settings(), 'storage', 'gc');
    expect(listed.abandoned.shown.map(({ upload: name }) => name).toSorted()).toEqual(abandoned);
    expect(abandoned.map((name) => existsSync(partsOf(name)))).toEqual([true, true]);
    const { output } = await review(settings(), 'storage', 'gc', '--delete');
    expect(output).toContain('2 abandoned uploads');
    expect(abandoned.map((name) => existsSync(partsOf(name)))).toEqual([false, false]);
    expect(kept.map((name) => existsSync(partsOf(name)))).toEqual([true, true, true, true]);
  });

  test('check counts unreferenced objects, and exits with 1 if an object is missing or has another size', async () => {
    const whole = await review(settings(), 'storage', 'check', '--json');
    expect([whole.code, JSON.parse(whole.output)]).toMatchObject([0, { damaged: { count: 0 } }]);

    const [missing, short] = [await uploadFile(), await attach()];
    await rm(pathOf(missing));
    await truncate(pathOf(short), 10);
    await stray();
    const { code, output } = await review(settings(), 'storage', 'check', '--json');
    const { unreferenced, damaged } = JSON.parse(output);
    expect([code, unreferenced.count]).toEqual([1, 1]);
    expect(damaged).toEqual({
      count: 2,
      bytes: 2 * bytes.length,
      shown: [
        { id: missing, key: missing, size: bytes.length, found: null },
        { id: short, key: short, size: bytes.length, found: 10 },
      ],
    });
    const { output: forPeople } = await review(settings(), 'storage', 'check');
    expect(forPeople).toContain('10 bytes instead of 1000');
  });

  test('an age below the lifetime of an upload is refused', async () => {
    const { code, errors } = await review(settings(), 'storage', 'gc', '--delete', '--older-than-hours', '1');
    expect([code, errors]).toEqual([
      1,
      expect.stringContaining('--older-than-hours: write a whole number of at least 24'),
    ]);
  });
});
