import { hash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createClient, items, upload } from '@review/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { freePort } from '../../../../scripts/free-port.ts';
import { listBackups, nameOf, PARTIAL } from '../backup/archive.ts';
import { type Created, createBackup, type FaultyObject } from '../backup/create.ts';
import { lockForPruning, lockForUse } from '../backup/lock.ts';
import type { Pruned } from '../backup/prune.ts';
import { deleteForGood, uploadFile } from '../rooms/uploads/test/uploads.ts';
import { hashObject } from '../storage/hash-object.ts';
import { holdDeletions } from '../storage/hold.ts';
import { type Storage, StorageUnavailable } from '../storage/storage.ts';
import { openOnFauxqs } from '../storage/test/drivers.ts';
import { sweep } from '../sweeper.ts';
import { type House, openHouse, postgresTest } from '../test/house.ts';
import { review, reviewJson } from '../test/review.ts';
import { startServer } from '../test/server-process.ts';

let folder: string;
let house: House & AsyncDisposable;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'review-backup-'));
  house = await openHouse('sqlite', { SECRET_KEY: 's'.repeat(32) });
});

afterEach(async () => {
  vi.useRealTimers();
  await house[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const archive = () => join(folder, 'backups');
const settings = () => ({ DATABASE_URL: house.databaseUrl, STORAGE_URL: house.deps.config.storageUrl });
const emptyPlace = () => ({ DATA_DIR: join(folder, 'restored'), SECRET_KEY: 's'.repeat(32) });
const backUp = () => reviewJson<Created>(settings(), 'backup', archive());
const restore = (...words: string[]) => review(emptyPlace(), 'restore', archive(), ...words);

const bytesOf = async (client: House['people']['owner']['client'], id: string) => {
  const { data } = await client.files.download({ params: { id } });
  return Buffer.from(await (await fetch(data.url)).arrayBuffer());
};

/** The paths of the copied objects. */
async function copies(): Promise<string[]> {
  const entries = await readdir(join(archive(), 'objects'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

test('a backup made while requests write is restored as it was at one moment', async () => {
  const { client, key } = house.people.owner;
  const to = { project: house.projectId };
  const before = new Map<string, Buffer>();
  for (let index = 0; index < 5; index++) {
    const source = randomBytes(50_000);
    before.set((await upload(client, { to, source, name: `${index}.bin` })).id, source);
  }
  const attachment = await upload(client, { to: { ...to, kind: 'comment' }, source: randomBytes(1000), name: 'a.png' });
  const body = { content: 'Before', attachments: [{ id: attachment.id }] };
  const comment = await client.comments.create({ params: { id: house.projectId }, body });

  let isDone = false;
  const writeAndDelete = async () => {
    for (let index = 0; !isDone; index++) {
      const { id } = await upload(client, { to, source: randomBytes(20_000), name: `during-${index}.bin` });
      await client.comments.createOnFile({ params: { id }, body: { content: 'During' } });
      if (index % 2 === 0) await deleteForGood(client, id);
      await sweep(house.deps);
    }
  };
  const writing = Promise.all([writeAndDelete(), writeAndDelete()]);
  const created = await backUp().finally(() => {
    isDone = true;
  });
  await writing;
  expect(created.faulty).toEqual([]);
  expect(created.objects.count).toBeGreaterThanOrEqual(6);

  const { code, output } = await restore();
  expect([code, output]).toEqual([0, expect.stringContaining(`Backup ${created.name} is restored`)]);
  const port = await freePort();
  const address = { PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` };
  await using server = await startServer({ ...emptyPlace(), ...address });
  const restored = createClient({ baseUrl: server.url, token: key });
  for (const [id, bytes] of before) {
    expect((await restored.files.get({ params: { id } })).data).toMatchObject({
      id,
      status: 'UPLOADED',
      size: bytes.length,
    });
    expect((await bytesOf(restored, id)).equals(bytes)).toBe(true);
  }
  expect((await restored.comments.get({ params: { id: comment.data.id } })).data.content).toBe('Before');
  for await (const file of items(restored.files.list, { params: { id: house.projectId } })) {
    if (file.status === 'UPLOADED') expect((await bytesOf(restored, file.id)).length).toBe(file.size);
  }
  expect(await reviewJson(emptyPlace(), 'storage', 'check')).toMatchObject({ damaged: { count: 0 } });
  expect(await reviewJson(emptyPlace(), 'audit', '--act', 'backup.restored')).toMatchObject([
    { subjectId: created.name },
  ]);
});

test('a second backup copies only new objects, and each can be restored', async () => {
  const [first, second] = [await uploadFile(house, randomBytes(1000)), await uploadFile(house, randomBytes(1000))];
  const one = await backUp();
  await deleteForGood(house.people.owner.client, first);
  const third = await uploadFile(house, randomBytes(1000));
  const two = await backUp();
  expect([one.copied, two.copied]).toEqual([2, 1]);
  expect(await copies()).toHaveLength(3);

  expect((await restore('--backup', one.name)).code).toBe(0);
  const keys = await readdir(join(folder, 'restored', 'files', 'objects'), { recursive: true });
  const has = (id: string) => keys.some((path) => path.endsWith(id));
  expect([first, second, third].map(has)).toEqual([true, true, false]);
});

test('the list of many objects, of which several are copied at once, matches its hash', async () => {
  await Promise.all(Array.from({ length: 60 }, () => uploadFile(house, randomBytes(10))));
  await backUp();
  for (let repeated = 0; repeated < 3; repeated++) {
    await backUp();
    const { code, errors } = await restore('--dry-run');
    expect([code, errors]).toEqual([0, expect.not.stringContaining('damaged')]);
  }
});

test('a restore into a place that is not empty is refused, and changes nothing', async () => {
  await uploadFile(house, randomBytes(10));
  const { name } = await backUp();
  const refused = await review(settings(), 'restore', archive());
  expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('There is a database at')]);
  const onlyStorage = { ...emptyPlace(), STORAGE_URL: house.deps.config.storageUrl };
  const occupied = await review(onlyStorage, 'restore', archive());
  expect([occupied.code, occupied.errors]).toEqual([1, expect.stringContaining('The storage has objects')]);
  expect(existsSync(join(folder, 'restored', 'review.db'))).toBe(false);

  const dry = await review(settings(), 'restore', archive(), '--dry-run', '--json');
  expect([dry.code, JSON.parse(dry.output)]).toMatchObject([
    0,
    {
      name,
      dryRun: true,
      faulty: [],
      objects: { count: 1, bytes: 10 },
      rows: { workspaces: 2, projects: 1, files: 1 },
    },
  ]);
  expect((await restore('--dry-run')).output).toContain('2 workspaces, 7 users, 1 projects, 1 files');
  expect(existsSync(join(folder, 'restored', 'review.db'))).toBe(false);
});

test('a damaged or missing copy is named, and all others are restored', async () => {
  const ids = [await uploadFile(house, randomBytes(100)), await uploadFile(house, randomBytes(200))];
  const kept = await uploadFile(house, randomBytes(300));
  await backUp();
  for (const path of await copies()) {
    const bytes = await readFile(path);
    if (bytes.length === 100) await writeFile(path, bytes.fill(0, 0, 50));
    if (bytes.length === 200) await rm(path);
  }
  for (const words of [['--dry-run'], []]) {
    const { code, output } = await restore(...words, '--json');
    const { faulty }: { faulty: FaultyObject[] } = JSON.parse(output);
    expect([code, faulty.toSorted((one, other) => one.key.localeCompare(other.key))]).toEqual([
      1,
      [
        { key: ids[0], reason: expect.stringMatching(/^SHA-256 \w+ instead of \w+$/) },
        { key: ids[1], reason: 'missing' },
      ].toSorted((one, other) => String(one.key).localeCompare(String(other.key))),
    ]);
  }
  expect(existsSync(join(folder, 'restored', 'files', 'objects', kept.slice(-2), kept))).toBe(true);
});

test('a damaged or missing object of the storage is named, and the backup has all others', async () => {
  const [short, missing] = [await uploadFile(house, randomBytes(100)), await uploadFile(house, randomBytes(100))];
  await uploadFile(house, randomBytes(100));
  const pathOf = (id: string) => join(house.deps.config.storageUrl.slice('file:'.length), 'objects', id.slice(-2), id);
  await truncate(pathOf(short), 10);
  await rm(pathOf(missing));
  const { code, output } = await review(settings(), 'backup', archive(), '--json');
  const { faulty, objects }: Created = JSON.parse(output);
  expect([code, objects.count]).toEqual([1, 1]);
  expect(faulty.map(({ key, reason }) => [key, reason]).toSorted()).toEqual(
    [
      [short, '10 bytes instead of 100'],
      [missing, 'missing'],
    ].toSorted(),
  );
});

test('an incomplete backup and a damaged database are recognised', async () => {
  await uploadFile(house, randomBytes(10));
  const whole = await backUp();
  await mkdir(join(archive(), '2999-01-01T00-00-00-000Z.partial'));
  expect(JSON.parse((await restore('--dry-run', '--json')).output)).toMatchObject({ name: whole.name });
  const database = join(archive(), whole.name, 'database.db');
  const bytes = await readFile(database);
  await writeFile(database, bytes.fill(0xff, 5000, 5100));
  const { code, errors } = await restore();
  expect([code, errors]).toEqual([1, expect.stringContaining('database.db is damaged')]);
  expect(existsSync(join(folder, 'restored', 'review.db'))).toBe(false);
  const unknown = await restore('--backup', '2020-01-01T00-00-00-000Z');
  expect([unknown.code, unknown.errors]).toEqual([1, expect.stringContaining('There is no complete backup')]);
  const nowhere = await review(emptyPlace(), 'restore', join(folder, 'nowhere'));
  expect([nowhere.code, nowhere.errors]).toEqual([1, expect.stringContaining('There is no complete backup')]);
});

test('a backup that is cut off leaves the last one whole, and the next one completes', async () => {
  const { db, opened, storage } = house.deps;
  await uploadFile(house, randomBytes(10));
  const whole = await backUp();
  for (let index = 0; index < 9; index++) await uploadFile(house, randomBytes(10));
  let reads = 0;
  const cutOff: Storage = {
    ...storage,
    async read(key, range) {
      if (reads++ > 5) throw new StorageUnavailable('The disk is not accessible.');
      return storage.read(key, range);
    },
  };
  await expect(createBackup(archive(), { address: opened.address, db, storage: cutOff })).rejects.toThrow('accessible');
  expect((await readdir(archive())).filter((name) => name.endsWith('.partial'))).toHaveLength(1);
  expect(JSON.parse((await restore('--dry-run', '--json')).output)).toMatchObject({ name: whole.name, faulty: [] });
  expect(await backUp()).toMatchObject({ objects: { count: 10 }, faulty: [] });
  expect((await restore()).code).toBe(0);
});

const prune = (...words: string[]) =>
  reviewJson<Pruned & { bytes: number }>({}, 'backup', 'prune', archive(), ...words);

/** Gives a backup the name of another day, as if it had been made then. */
async function moveToPast(name: string, days: number): Promise<string> {
  const past = nameOf(new Date(Date.now() - days * 86_400_000));
  await rename(join(archive(), name), join(archive(), past));
  return past;
}

test('pruning removes old backups with the objects that only they have, and a kept one is restored', async () => {
  const { client } = house.people.owner;
  const source = randomBytes(3000);
  const [dropped, shared] = [await uploadFile(house, randomBytes(1000)), await uploadFile(house, source)];
  const first = await moveToPast((await backUp()).name, 40);
  await deleteForGood(client, dropped);
  const second = await moveToPast((await backUp()).name, 20);
  const added = await uploadFile(house, randomBytes(500));
  const third = (await backUp()).name;
  await writeFile(join(archive(), 'database.dump'), 'of the operator');
  const before = await readdir(archive(), { recursive: true });

  const dry = await prune('--keep', '1', '--keep-days', '30', '--dry-run');
  expect(dry).toMatchObject({ kept: [second, third], removed: [first], objects: { count: 1, bytes: 1000 } });
  expect(dry.bytes).toBeGreaterThan(1000 + dry.leftovers.bytes);
  expect(await readdir(archive(), { recursive: true })).toEqual(before);

  expect(await prune('--keep', '1', '--keep-days', '30')).toEqual({ ...dry, dryRun: false });
  expect(await prune('--keep', '2')).toMatchObject({ kept: [second, third], removed: [], bytes: 0 });
  expect(await readdir(archive())).toEqual(expect.arrayContaining(['database.dump', second, third]));
  expect(await copies()).toHaveLength(2);

  expect((await restore('--backup', second)).code).toBe(0);
  const port = await freePort();
  await using server = await startServer({ ...emptyPlace(), PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` });
  const restored = createClient({ baseUrl: server.url, token: house.people.owner.key });
  expect((await bytesOf(restored, shared)).equals(source)).toBe(true);
  expect(await reviewJson(emptyPlace(), 'storage', 'check')).toMatchObject({ damaged: { count: 0 } });
  expect(JSON.parse((await restore('--backup', third, '--dry-run', '--json')).output)).toMatchObject({
    faulty: [],
    objects: { count: 2 },
  });
  expect(added).not.toBe(shared);
});

test('pruning keeps the last complete backup, however old, and removes what was cut off', async () => {
  await uploadFile(house, randomBytes(10));
  await moveToPast((await backUp()).name, 50);
  const last = await moveToPast((await backUp()).name, 40);
  const cutOff = nameOf(new Date()) + PARTIAL;
  await mkdir(join(archive(), cutOff));
  await writeFile(join(archive(), cutOff, 'objects.jsonl'), '12345');
  await writeFile(join(archive(), 'objects', 'draft-1'), '123');
  await writeFile(join(archive(), 'mine.partial'), 'of the operator');
  expect(await prune('--keep-days', '30')).toMatchObject({ kept: [last], leftovers: { count: 2, bytes: 8 } });
  expect((await readdir(archive())).toSorted()).toEqual([last, 'lock', 'mine.partial', 'objects'].toSorted());
  expect(JSON.parse((await restore('--dry-run', '--json')).output)).toMatchObject({ name: last, faulty: [] });
});

test('pruning removes nothing beside a backup, and a backup waits until it has ended', async () => {
  await uploadFile(house, randomBytes(10));
  await backUp();
  const { name } = await backUp();
  const { db, opened, storage } = house.deps;
  let refused: Awaited<ReturnType<typeof review>> | undefined;
  const watched: Storage = {
    ...storage,
    async read(key, range) {
      refused ??= await review({}, 'backup', 'prune', archive(), '--keep', '1');
      return storage.read(key, range);
    },
  };
  await uploadFile(house, randomBytes(20));
  const during = await createBackup(archive(), { address: opened.address, db, storage: watched });
  expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('A backup or a restore is running') });
  expect(during.objects.count).toBe(2);

  const pruning = lockForPruning(archive());
  const waiting = lockForUse(archive());
  expect(await Promise.race([waiting, nextTurn('waits')])).toBe('waits');
  pruning?.[Symbol.dispose]();
  (await waiting)[Symbol.dispose]();
  expect(await prune('--keep', '1')).toMatchObject({ kept: [during.name], removed: [expect.any(String), name] });
});

test('pruning removes nothing if a kept backup does not say what it needs', async () => {
  await uploadFile(house, randomBytes(10));
  await backUp();
  const { name } = await backUp();
  await truncate(join(archive(), name, 'objects.jsonl'), 20);
  const refused = await review({}, 'backup', 'prune', archive(), '--keep', '1');
  expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining(`${name} is damaged`)]);
  expect([await listBackups(archive()), await copies()]).toMatchObject([{ length: 2 }, { length: 1 }]);
});

test.each([
  [[], '--keep or --keep-days'],
  [['--keep', '0'], '--keep: write a whole number'],
  [['--keep-days', '1.5'], '--keep-days: write a whole number'],
  [['--keep', '1'], 'There is no folder'],
])('pruning with %j is refused: %s', async (words, message) => {
  const { code, errors } = await review({}, 'backup', 'prune', join(folder, 'nowhere'), ...words);
  expect([code, errors]).toEqual([1, expect.stringContaining(message)]);
});

test('a folder without a complete backup is not pruned', async () => {
  const { code, errors } = await review({}, 'backup', 'prune', folder, '--keep', '1');
  expect([code, errors]).toEqual([1, expect.stringContaining('There is no complete backup')]);
});

test('blobs of deleted files stay while a backup runs, and until its hold lapses', async () => {
  const { deps, people } = house;
  const id = await uploadFile(house, randomBytes(10));
  const hold = await holdDeletions(deps.storage);
  hold[Symbol.dispose]();
  await deleteForGood(people.owner.client, id);
  await sweep(deps);
  expect(await deps.storage.sizeOf(id)).toBe(10);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_601_000 });
  expect(() => hold.requireUnbroken()).toThrow('Repeat it');
  // A sweep at that time would leave `now()` there for all later tests of this process.
  vi.useRealTimers();
  await deps.storage.put('backup-hold', Buffer.from(new Date(Date.now() - 1).toISOString()));
  await sweep(deps);
  expect(await deps.storage.sizeOf(id)).toBeNull();
});

test.each([0, 1000, 20 * 1024 ** 2])('S3 stores a local file of %i bytes', async (size) => {
  await using s3 = await openOnFauxqs();
  const path = join(folder, 'local');
  const bytes = randomBytes(size);
  await writeFile(path, bytes);
  await s3.storage.putFile('FX-local', path, size);
  expect(await hashObject(s3.storage, 'FX-local')).toBe(hash('sha256', bytes));
});

postgresTest('on Postgres the command names pg_dump, and copies the storage by --storage-only', async () => {
  await using onPostgres = await openHouse('postgres');
  const at = { DATABASE_URL: onPostgres.databaseUrl, STORAGE_URL: onPostgres.deps.config.storageUrl };
  const id = await uploadFile(onPostgres, randomBytes(10));
  const refused = await review(at, 'backup', archive());
  expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining(`pg_dump --format=custom --file=`)]);
  expect(refused.errors).not.toContain('postgres:postgres');
  const created = await reviewJson<Created>(at, 'backup', archive(), '--storage-only');
  expect(created).toMatchObject({ database: null, objects: { count: 1 }, copied: 1, faulty: [] });
  const target = { ...at, STORAGE_URL: `file:${join(folder, 'restored')}` };
  expect(await reviewJson(target, 'restore', archive())).toMatchObject({ objects: { count: 1 } });
  expect(existsSync(join(folder, 'restored', 'objects', id.slice(-2), id))).toBe(true);
});
