import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredObject, UnfinishedUpload } from './storage.ts';

/** Yields every object below `objects/<2 characters>/`. Skips objects that are removed meanwhile. */
export async function* listObjects(folder: string): AsyncGenerator<StoredObject> {
  for await (const shelf of entriesOf(folder)) {
    for await (const key of entriesOf(join(folder, shelf))) {
      const found = await stat(join(folder, shelf, key)).catch(() => null);
      if (found?.isFile()) yield { key, size: found.size, modifiedAt: found.mtime };
    }
  }
}

/** Yields every upload below `parts/`. Adding a part changes the mtime of the upload's folder. */
export async function* listUploads(folder: string): AsyncGenerator<UnfinishedUpload> {
  for await (const upload of entriesOf(folder)) {
    const found = await stat(join(folder, upload)).catch(() => null);
    if (found?.isDirectory()) yield { key: upload, upload, changedAt: found.mtime };
  }
}

async function* entriesOf(folder: string): AsyncGenerator<string> {
  const directory = await opendir(folder).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && ['ENOENT', 'ENOTDIR'].includes(String(error.code))) return null;
    throw error;
  });
  if (directory === null) return;
  for await (const { name } of directory) yield name;
}
