import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DatabaseAddress } from '../db/database.ts';
import { isOurKey } from '../storage/audit.ts';
import type { Storage } from '../storage/storage.ts';
import {
  type ArchivedObject,
  databasePath,
  flush,
  hashFile,
  listBackups,
  listPath,
  objectPath,
  readObjects,
  readSummary,
  type Summary,
  sizeOf,
} from './archive.ts';
import type { FaultyObject } from './create.ts';
import { lockForUse } from './lock.ts';

/** The backup cannot be restored here. The message says why. */
export class CannotRestore extends Error {
  override name = 'CannotRestore';
}

export interface Restored extends Summary {
  name: string;
  faulty: FaultyObject[];
}

interface Target {
  address: DatabaseAddress;
  storage: Storage;
}

const COPIES_AT_ONCE = 4;

/** Verifies the backup of that name, by default the last complete one, and restores it unless it is a dry run. */
export async function restoreBackup(
  folder: string,
  { address, storage }: Target,
  { name, isDryRun }: { name?: string | undefined; isDryRun: boolean },
): Promise<Restored> {
  using _lock = await lockForUse(folder);
  const names = await listBackups(folder);
  const chosen = name ?? names.at(-1);
  if (chosen === undefined || !names.includes(chosen))
    throw new CannotRestore(
      `There is no complete backup${name === undefined ? '' : ` ${name}`} in ${folder}. Those there are: ${names.join(', ') || 'none'}.`,
    );
  const backup = join(folder, chosen);
  const summary = await readSummary(backup);
  await requireWhole(backup, summary);
  if (!isDryRun) {
    if (address.dialect === 'postgres' && summary.database !== null)
      throw new CannotRestore('The backup has a SQLite database. Set DATABASE_URL to sqlite:<path> to restore it.');
    await requireEmpty(address, storage);
  }

  const faulty: FaultyObject[] = [];
  const restore = async (object: ArchivedObject) => {
    const path = objectPath(folder, object.sha256);
    const reason = await faultOf(path, object);
    if (reason !== null) faulty.push({ key: object.key, reason });
    else if (!isDryRun) await storage.putFile(object.key, path, object.size);
  };
  let some: ArchivedObject[] = [];
  for await (const object of readObjects(backup)) {
    some.push(object);
    if (some.length < COPIES_AT_ONCE) continue;
    await Promise.all(some.map(restore));
    some = [];
  }
  await Promise.all(some.map(restore));
  // Last, so that a server that starts too early does not find a database without its objects.
  if (!isDryRun && address.dialect === 'sqlite' && summary.database !== null) {
    await placeDatabase(databasePath(backup), address.path);
  }
  return { name: chosen, faulty, ...summary };
}

async function requireWhole(backup: string, { database, objects }: Summary): Promise<void> {
  const files: [string, string][] = [[listPath(backup), objects.sha256]];
  if (database !== null) files.push([databasePath(backup), database.sha256]);
  for (const [path, sha256] of files) {
    const found = await hashFile(path).catch(() => null);
    if (found !== sha256)
      throw new CannotRestore(`${path} is ${found === null ? 'missing' : 'damaged'}. Restore another backup.`);
  }
}

async function requireEmpty(address: DatabaseAddress, storage: Storage): Promise<void> {
  if (address.dialect === 'sqlite' && existsSync(address.path))
    throw new CannotRestore(`There is a database at ${address.path}. Restore into an empty place, or move it away.`);
  for await (const { key } of storage.list()) {
    if (isOurKey(key))
      throw new CannotRestore(
        `The storage has objects, such as ${key}. Restore into an empty place, or move them away; also what a canceled restore has left.`,
      );
  }
}

async function faultOf(path: string, { size, sha256 }: ArchivedObject): Promise<string | null> {
  const found = await sizeOf(path);
  if (found === null) return 'missing';
  if (found !== size) return `${found} bytes instead of ${size}`;
  const hash = await hashFile(path);
  return hash === sha256 ? null : `SHA-256 ${hash} instead of ${sha256}`;
}

async function placeDatabase(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  const draft = `${to}.restoring`;
  await copyFile(from, draft);
  await flush(draft);
  await rename(draft, to);
  await flush(dirname(to));
}
