import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

// A backup folder has `objects/<2 characters>/<sha256>`, which all backups in it share, and a folder per backup, named by
// its time, with `backup.json`, `objects.jsonl` and the database. A backup that is not complete ends with `.partial`.

export const PARTIAL = '.partial';
const COMPLETE_NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/;
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

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
