import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { releaseVersion } from '../config/release.ts';
import type { DatabaseAddress } from '../db/database.ts';
import { listMigrations } from '../db/migrate.ts';
import { openDatabase } from '../db/open.ts';
import type { Database } from '../db/schema.ts';
import { copySqlite, sealSqlite } from '../db/snapshot.ts';
import { listReferenced } from '../storage/audit.ts';
import { writeBytes } from '../storage/disk-write.ts';
import { holdDeletions } from '../storage/hold.ts';
import type { NamedObject } from '../storage/queries.ts';
import { NoSuchObject, type Storage } from '../storage/storage.ts';
import {
  type ArchivedObject,
  databasePath,
  draftPath,
  flush,
  hashed,
  hashFile,
  listBackups,
  listPath,
  nameOf,
  objectPath,
  PARTIAL,
  readObjects,
  type Summary,
  sizeOf,
  summaryPath,
} from './archive.ts';
import { lockForUse } from './lock.ts';

const COPIES_AT_ONCE = 4;
const COUNTED = ['workspaces', 'users', 'projects', 'files', 'comments'] as const;

/** An object that is missing, or has other bytes than its row says. */
export interface FaultyObject {
  key: string;
  reason: string;
}

export interface Created extends Summary {
  name: string;
  /** How many objects were not in the folder yet. */
  copied: number;
  faulty: FaultyObject[];
}

interface Source {
  address: DatabaseAddress;
  /** The database in use. */
  db: Database;
  storage: Storage;
}

/**
 * Makes a backup in the folder. Deletions are held first, then the database is copied, then the objects that the copy
 * references: so each of them still exists. The backup gets its final name when it is complete and flushed.
 */
export async function createBackup(folder: string, { address, db, storage }: Source): Promise<Created> {
  await mkdir(folder, { recursive: true });
  using _lock = await lockForUse(folder);
  const startedAt = new Date();
  const name = nameOf(startedAt);
  const draft = join(folder, name + PARTIAL);
  const known = await readLast(folder);
  await mkdir(draft);
  using hold = await holdDeletions(storage);

  const isSqlite = address.dialect === 'sqlite';
  if (isSqlite) await copySqlite(address.path, databasePath(draft));
  const copyReferenced = async (rows: Database) => ({
    ...(await copyObjects(folder, draft, storage, listReferenced(rows), known)),
    migration: (await listMigrations(rows)).applied.at(-1) ?? '',
    rows: await countRows(rows),
  });
  const { migration, rows, objects, copied, faulty } = isSqlite
    ? await withCopy(databasePath(draft), copyReferenced)
    : await copyReferenced(db);
  hold.requireUnbroken();

  const summary: Summary = {
    format: 1,
    release: releaseVersion(),
    startedAt: startedAt.toISOString(),
    migration,
    rows,
    database: isSqlite ? await sealDatabase(databasePath(draft)) : null,
    objects,
  };
  await writeFile(summaryPath(draft), `${JSON.stringify(summary, null, 2)}\n`);
  await flush(summaryPath(draft));
  await flush(draft);
  await rename(draft, join(folder, name));
  await flush(folder);
  return { name, copied, faulty, ...summary };
}

/** Works on the copy of the database, and closes it. */
async function withCopy<T>(path: string, work: (db: Database) => Promise<T>): Promise<T> {
  await using copy = openDatabase({ dialect: 'sqlite', path }, () => {});
  return await work(copy.db);
}

/** The objects of the last backup by key. Their keys never get other bytes. */
async function readLast(folder: string): Promise<Map<string, ArchivedObject>> {
  const last = (await listBackups(folder)).at(-1);
  const known = new Map<string, ArchivedObject>();
  if (last !== undefined) for await (const object of readObjects(join(folder, last))) known.set(object.key, object);
  return known;
}

async function copyObjects(
  folder: string,
  draft: string,
  storage: Storage,
  referenced: AsyncIterable<NamedObject[]>,
  known: ReadonlyMap<string, ArchivedObject>,
) {
  const objects = { count: 0, bytes: 0 };
  let copied = 0;
  const faulty: FaultyObject[] = [];
  const listHash = createHash('sha256');
  await using list = await open(listPath(draft), 'w');

  async function archive(named: NamedObject): Promise<ArchivedObject | FaultyObject> {
    const earlier = known.get(named.key);
    const isKept = earlier?.size === named.size && (await sizeOf(objectPath(folder, earlier.sha256))) === earlier.size;
    return isKept ? earlier : copyObject(folder, storage, named);
  }

  /** Writes one line after the other, because writes at once have no order. */
  async function record(object: ArchivedObject): Promise<void> {
    objects.count += 1;
    objects.bytes += object.size;
    if (object !== known.get(object.key)) copied += 1;
    const line = `${JSON.stringify(object)}\n`;
    listHash.update(line);
    await list.appendFile(line);
  }

  for await (const page of referenced) {
    for (let start = 0; start < page.length; start += COPIES_AT_ONCE) {
      const archived = await Promise.all(page.slice(start, start + COPIES_AT_ONCE).map(archive));
      for (const object of archived) {
        if ('reason' in object) faulty.push(object);
        else await record(object);
      }
    }
  }
  await list.sync();
  const sha256 = listHash.digest('hex');
  if ((await hashFile(listPath(draft))) !== sha256)
    throw new Error(`${listPath(draft)} has other bytes than were written.`);
  return { objects: { ...objects, sha256 }, copied, faulty };
}

/** Copies an object under the name of its hash, and reads the copy again. */
async function copyObject(
  folder: string,
  storage: Storage,
  { key, size, sha256: expected }: NamedObject,
): Promise<ArchivedObject | FaultyObject> {
  const draft = draftPath(folder);
  await mkdir(dirname(draft), { recursive: true });
  const hash = createHash('sha256');
  try {
    await writeBytes(draft, 'wx', hashed(await storage.read(key), hash));
    const found = await sizeOf(draft);
    if (found !== size) return { key, reason: `${found} bytes instead of ${size}` };
    const sha256 = hash.digest('hex');
    if (expected && sha256 !== expected) return { key, reason: `SHA-256 ${sha256} instead of ${expected}` };
    if ((await hashFile(draft)) !== sha256) throw new Error(`The copy of ${key} in ${folder} has other bytes.`);
    const path = objectPath(folder, sha256);
    await mkdir(dirname(path), { recursive: true });
    await rename(draft, path);
    await flush(dirname(path));
    return { key, size, sha256 };
  } catch (error) {
    if (error instanceof NoSuchObject) return { key, reason: 'missing' };
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function sealDatabase(path: string) {
  sealSqlite(path);
  await flush(path);
  return { size: (await sizeOf(path)) ?? 0, sha256: await hashFile(path) };
}

async function countRows(db: Database): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of COUNTED) {
    const { count } = await db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    counts[table] = Number(count);
  }
  return counts;
}
