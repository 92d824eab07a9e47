import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../db/schema.ts';
import { now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { deleteUnfinishedFilesOf, deleteUnfinishedUploads, type PendingBlobDeletion, type Starter } from './queries.ts';

/** How long a request waits for the storage to abort what it dropped. */
const ABORT_WAIT_MS = 5000;

/** Drops the uploads that the user has not finished, with the files they were to become. */
export async function dropUnfinishedUploads(trx: Writer, starter: Starter): Promise<PendingBlobDeletion[]> {
  // Uploads before files, in the order in which completing one locks them.
  const dropped = await deleteUnfinishedUploads(trx, starter, now());
  await deleteUnfinishedFilesOf(trx, starter);
  return dropped;
}

/**
 * Makes the part URLs of dropped uploads fail from now on. Called after the commit. The sweep aborts them once more,
 * because a part that was in flight may have arrived since, and because the storage may not have answered here.
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
        .catch((error: unknown) => log.warn({ err: error, key }, 'upload not aborted; the sweep tries again'));
    }
  };
  await Promise.race([abortAll(), delay(ABORT_WAIT_MS, undefined, { ref: false })]);
}
