import { withoutTimeouts } from './db/open.ts';
import { now, secondsFromNow } from './db/time.ts';
import type { Deps } from './deps.ts';
import { deleteExpiredKeys } from './http/idempotency.ts';
import { deleteExpiredCounts } from './http/shared-counts.ts';
import { hashUploadedFiles } from './rooms/files/hash.ts';
import { deleteUnfinishedFile } from './rooms/files/queries.ts';
import { deleteDueProjects } from './rooms/projects/queries.ts';
import {
  deletePendingBlobDeletion,
  deleteUploadRow,
  dropStaleUpload,
  findStaleUploads,
  listPendingBlobDeletions,
} from './rooms/uploads/queries.ts';

const INTERVAL_MS = 10 * 60 * 1000;

type Swept = Pick<Deps, 'db' | 'opened' | 'storage' | 'watch' | 'log'>;

/** Deletes expired keys, projects, uploads and blobs, and hashes new files. Several servers may run it at once. */
export async function sweep(deps: Swept): Promise<void> {
  await deleteExpiredKeys(deps.db);
  if (deps.opened.dialect === 'postgres') await deleteExpiredCounts(deps.db);
  // Deleting a large project can take longer than the statement timeout.
  await withoutTimeouts(deps.opened, (db) => deleteDueProjects(db, now()));
  await dropStaleUploads(deps);
  await removePendingBlobs(deps);
  await hashUploadedFiles(deps);
}

/** Deletes expired unfinished uploads with their files, and expired unused attachments. */
async function dropStaleUploads({ db }: Swept): Promise<void> {
  for (;;) {
    const stale = await findStaleUploads(db, secondsFromNow(0));
    for (const { id, completed } of stale) {
      await db.transaction().execute(async (trx) => {
        if (id.startsWith('FX') && completed) return deleteUploadRow(trx, id);
        if (await dropStaleUpload(trx, { id, completed }, now())) await deleteUnfinishedFile(trx, id);
      });
    }
    if (stale.length === 0) return;
  }
}

/** Deletes the blob before its row, so that an interrupted deletion is retried. */
async function removePendingBlobs({ db, storage, log }: Swept): Promise<void> {
  let lastKey = '';
  for (;;) {
    const pending = await listPendingBlobDeletions(db, lastKey);
    for (const { key, upload } of pending) {
      lastKey = key;
      try {
        if (upload !== null) await storage.abort({ key, upload });
        await storage.remove(key);
        await deletePendingBlobDeletion(db, key);
      } catch (error) {
        log.warn({ err: error, key }, 'blob not deleted; the next sweep retries');
      }
    }
    if (pending.length === 0) return;
  }
}

export function startSweeper(deps: Deps): Disposable {
  const run = () => sweep(deps).catch((error: unknown) => deps.log.error({ err: error }, 'sweep failed'));
  void run();
  const timer = setInterval(run, INTERVAL_MS);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
