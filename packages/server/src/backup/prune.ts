import { existsSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  flush,
  hashFile,
  listBackups,
  listCutOff,
  listObjectFiles,
  listPath,
  PARTIAL,
  readObjects,
  readSummary,
  startOf,
} from './archive.ts';
import { lockForPruning } from './lock.ts';

/** Nothing is removed. The message says why. */
export class CannotPrune extends Error {
  override name = 'CannotPrune';
}

/** A backup is kept if one of the two says so. The last complete one is always kept. */
export interface Retention {
  /** How many of the newest. */
  count?: number | undefined;
  /** Those of so many days. */
  days?: number | undefined;
}

interface Removed {
  count: number;
  bytes: number;
}

export interface Pruned {
  kept: string[];
  removed: string[];
  /** The removed backups, without their objects. */
  backups: Removed;
  /** What backups that were cut off have left. */
  leftovers: Removed;
  /** Those that no kept backup lists. */
  objects: Removed;
}

const DAY_MS = 86_400_000;

/**
 * Removes old backups, what backups that were cut off have left, and the objects that no kept backup lists. A dry run only
 * counts them.
 */
export async function pruneBackups(
  folder: string,
  retention: Retention,
  { isDryRun }: { isDryRun: boolean },
): Promise<Pruned> {
  if (!existsSync(folder)) throw new CannotPrune(`There is no folder ${folder}.`);
  using lock = lockForPruning(folder);
  if (lock === null)
    throw new CannotPrune(`A backup or a restore is running in ${folder}. Prune it after that has ended.`);
  const names = await listBackups(folder);
  if (names.length === 0) throw new CannotPrune(`There is no complete backup in ${folder}.`);
  const kept = selectKept(names, retention);
  const removed = names.filter((name) => !kept.has(name));
  const needed = await readNeeded(folder, kept);

  const [backups, leftovers, objects] = [nothing(), nothing(), nothing()];
  const remove = async (path: string, count: Removed) => {
    count.count += 1;
    count.bytes += await bytesOf(path);
    if (!isDryRun) await rm(path, { recursive: true });
  };
  for (const name of await listCutOff(folder)) await remove(join(folder, name), leftovers);
  // A backup loses its name, also after a power failure, before the first of its files or objects is removed.
  for (const name of removed) if (!isDryRun) await rename(join(folder, name), join(folder, name + PARTIAL));
  await flush(folder);
  for (const name of removed) await remove(join(folder, isDryRun ? name : name + PARTIAL), backups);
  for await (const { path, sha256 } of listObjectFiles(folder)) {
    if (sha256 === null) await remove(path, leftovers);
    else if (!needed.has(sha256)) await remove(path, objects);
  }
  return { kept: [...kept], removed, backups, leftovers, objects };
}

const nothing = (): Removed => ({ count: 0, bytes: 0 });

function selectKept(names: readonly string[], { count = 1, days = 0 }: Retention): Set<string> {
  const newest = new Set(names.slice(-count));
  const since = Date.now() - days * DAY_MS;
  return new Set(names.filter((name) => newest.has(name) || startOf(name) >= since));
}

/** The hashes of the objects of the kept backups. Throws if one of them does not say which objects it needs. */
async function readNeeded(folder: string, kept: ReadonlySet<string>): Promise<Set<string>> {
  const needed = new Set<string>();
  for (const name of kept) {
    const backup = join(folder, name);
    const summary = await readSummary(backup).catch(() => null);
    const listed = await hashFile(listPath(backup)).catch(() => null);
    if (summary === null || listed !== summary.objects.sha256)
      throw new CannotPrune(`${backup} is damaged and cannot be restored. Delete it, then prune again.`);
    for await (const { sha256 } of readObjects(backup)) needed.add(sha256);
  }
  return needed;
}

/** The bytes of a file, or of the files of a backup. */
async function bytesOf(path: string): Promise<number> {
  if (!(await stat(path)).isDirectory()) return (await stat(path)).size;
  let bytes = 0;
  for (const name of await readdir(path)) bytes += await bytesOf(join(path, name));
  return bytes;
}
