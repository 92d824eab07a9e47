import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../db/schema.ts';
import { now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import type { NewEvent } from '../events/outbox.ts';
import { fileDeleted } from '../files/events.ts';
import { deleteUnfinishedFilesOf, deleteUnfinishedUploads, type PendingBlobDeletion, type Starter } from './queries.ts';

/** The maximum time that a request waits for the storage to abort uploads. */
const ABORT_TIMEOUT_MS = 5000;

interface Dropped {
  blobs: PendingBlobDeletion[];
  /** The events of the deleted files. */
  deleted: NewEvent<'file.deleted'>[];
}

/** Deletes the user's unfinished uploads and their files. */
export async function dropUnfinishedUploads(trx: Writer, starter: Starter): Promise<Dropped> {
  // Uploads before files, in the lock order of completing an upload.
  const blobs = await deleteUnfinishedUploads(trx, starter, now());
  const files = await deleteUnfinishedFilesOf(trx, starter);
  return { blobs, deleted: files.map(fileDeleted) };
}

/**
 * Aborts deleted uploads in the storage, so that their part URLs stop working. Call it after the commit. The sweep aborts
 * them again, because a part in flight may arrive later and the storage may not answer here.
 */
export async function abortDropped(
  { storage, log }: Pick<Deps, 'storage' | 'log'>,
  dropped: readonly PendingBlobDeletion[],
): Promise<void> {
  const abortAll = async () => {
    for (const { key, upload } of dropped) {
      if (upload === null) continue;
      await storage
        .abort({ key, upload })
        .catch((error: unknown) => log.warn({ err: error, key }, 'upload not aborted; the next sweep retries'));
    }
  };
  await Promise.race([abortAll(), delay(ABORT_TIMEOUT_MS, undefined, { ref: false })]);
}
