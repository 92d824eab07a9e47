import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import type { Deps } from '../deps.ts';
import { findUnhashedFiles, setHash } from './queries.ts';

/** Reads uploaded files through, after their uploaders have their answer. */
export async function hashUploadedFiles({ db, storage, watch, log }: Pick<Deps, 'db' | 'storage' | 'watch' | 'log'>) {
  for (const { id, storageKey } of await findUnhashedFiles(db)) {
    try {
      const hash = createHash('sha256');
      await pipeline(await storage.read(storageKey), hash);
      await setHash(db, id, hash.digest('hex'));
      watch.changed(id);
    } catch (error) {
      log.warn({ err: error, file: id }, 'an uploaded file could not be read through; trying again later');
    }
  }
}
