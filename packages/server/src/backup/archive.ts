import { createHash, type Hash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

// A backup folder has `objects/<2 characters>/<sha256>`, which all backups in it share, and a folder per backup, named by
// its time, with `backup.json`, `objects.jsonl` and the database. A backup that is not complete ends with `.partial`, and
// objects that are being copied are `objects/draft-<id>`.

export const PARTIAL = '.partial';
const DRAFT = 'draft-';
const COMPLETE_NAME = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3}Z)$/;
const SHA256 = /^[0-9a-f]{64}$/;
const Sha256 = z.string().regex(SHA256);

/** An object of the storage. */
const ArchivedObject = z.object({ key: z.string(), size: z.number(), sha256: Sha256 });
export type ArchivedObject = z.infer<typeof ArchivedObject>;

/** The content of `backup.json`. */
const Summary = z.object({
  format: z.literal(1),
  release: z.string(),
  migration: z.string(),
  startedAt: z.string(),
  /** Null if the database is on Postgres, which has its own tools. */
  database: z.object({ size: z.number(), sha256: Sha256 }).nullable(),
  objects: z.object({ count: z.number(), bytes: z.number(), sha256: Sha256 }),
  rows: z.record(z.string(), z.number()),
});
export type Summary = z.infer<typeof Summary>;

export const nameOf = (startedAt: Date): string => startedAt.toISOString().replaceAll(/[:.]/g, '-');
/** The time of a backup by its name, in milliseconds. */
export const startOf = (name: string): number => Date.parse(name.replace(COMPLETE_NAME, '$1:$2:$3.$4'));
export const draftPath = (folder: string): string => join(folder, 'objects', DRAFT + randomUUID());
export const objectPath = (folder: string, sha256: string): string =>
  join(folder, 'objects', sha256.slice(0, 2), sha256);
export const databasePath = (backup: string): string => join(backup, 'database.db');
export const summaryPath = (backup: string): string => join(backup, 'backup.json');
export const listPath = (backup: string): string => join(backup, 'objects.jsonl');

/** The names of the complete backups, oldest first. */
export async function listBackups(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => COMPLETE_NAME.test(name)).toSorted();
}

/** The names of the folders of backups that are not complete. */
export async function listCutOff(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names.filter((name) => name.endsWith(PARTIAL) && COMPLETE_NAME.test(name.slice(0, -PARTIAL.length)));
}

/** The stored objects, and the drafts, whose hash is null. Other files are not listed. */
export async function* listObjectFiles(folder: string): AsyncGenerator<{ path: string; sha256: string | null }> {
  const root = join(folder, 'objects');
  for (const entry of await readdir(root, { withFileTypes: true }).catch(() => [])) {
    const path = join(root, entry.name);
    if (entry.name.startsWith(DRAFT)) yield { path, sha256: null };
    if (!entry.isDirectory()) continue;
    for (const name of await readdir(path)) if (SHA256.test(name)) yield { path: join(path, name), sha256: name };
  }
}

export const readSummary = async (backup: string): Promise<Summary> =>
  Summary.parse(JSON.parse(await readFile(summaryPath(backup), 'utf8')));

export async function* readObjects(backup: string): AsyncGenerator<ArchivedObject> {
  for await (const line of createInterface({ input: createReadStream(listPath(backup)) })) {
    yield ArchivedObject.parse(JSON.parse(line));
  }
}

export async function sizeOf(path: string): Promise<number | null> {
  return (await stat(path).catch(() => null))?.size ?? null;
}

export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 ** 2 })) hash.update(chunk);
  return hash.digest('hex');
}

/** Passes the chunks on and adds them to the hash. */
export async function* hashed(chunks: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

/** Flushes a file, or a folder with its renames. */
export async function flush(path: string): Promise<void> {
  await using handle = await open(path);
  await handle.sync();
}
