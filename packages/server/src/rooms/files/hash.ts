import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import type { Deps } from '../../deps.ts';
import { findUnhashedFiles, setHash } from './queries.ts';

type Hashing = Pick<Deps, 'db' | 'storage' | 'watch' | 'log'>;

/** Reads an uploaded file through, after its uploader has the answer; what fails is left to the next sweep. */
export async function hashUploadedFile(
  { db, storage, watch, log }: Hashing,
  { id, storageKey }: { id: string; storageKey: string },
): Promise<void> {
  try {
    const hash = createHash('sha256');
    await pipeline(await storage.read(storageKey), hash);
    await setHash(db, id, hash.digest('hex'));
    watch.changed(id);
  } catch (error) {
    log.warn({ err: error, file: id }, 'an uploaded file could not be read through; trying again later');
  }
}

/** Reads every file through that has not been; one that cannot be read holds up no other. */
export async function hashUploadedFiles(deps: Hashing): Promise<void> {
  let lastId = '';
  for (;;) {
    const files = await findUnhashedFiles(deps.db, lastId);
    for (const file of files) {
      await hashUploadedFile(deps, file);
      lastId = file.id;
    }
    if (files.length === 0) return;
  }
}
