import type { Deps } from '../../deps.ts';
import { hashObject } from '../../storage/hash-object.ts';
import { findUnhashedFiles, setHash } from './queries.ts';

type Hashing = Pick<Deps, 'db' | 'storage' | 'watch' | 'log'>;

/** Computes and stores the SHA-256 of an uploaded file in the background. The next sweep retries a failure. */
export async function hashUploadedFile(
  { db, storage, watch, log }: Hashing,
  { id, storage_key: key }: { id: string; storage_key: string },
): Promise<void> {
  try {
    await setHash(db, id, await hashObject(storage, key));
    watch.changed(id);
  } catch (error) {
    log.warn({ err: error, file: id }, 'file not hashed; the next sweep retries');
  }
}

/** Hashes all uploaded files without a hash. An unreadable file does not block the others. */
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
