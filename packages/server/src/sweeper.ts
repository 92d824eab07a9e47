import type { Logger } from 'pino';
import { withoutTimeouts } from './db/open.ts';
import { now, secondsFromNow } from './db/time.ts';
import { inTransaction } from './db/transaction.ts';
import type { Deps } from './deps.ts';
import { countExpiredKeys, deleteExpiredKeys } from './http/idempotency.ts';
import { deleteExpiredCounts } from './http/shared-counts.ts';
import { countExpiredActs, deleteExpiredActs } from './rooms/audit/queries.ts';
import { writeWithEvents } from './rooms/events/outbox.ts';
import { countExpiredEvents, deleteExpiredEvents } from './rooms/events/queries.ts';
import { fileDeleted } from './rooms/files/events.ts';
import { hashUploadedFiles } from './rooms/files/hash.ts';
import { deleteUnfinishedFile } from './rooms/files/queries.ts';
import { deleteTrashedFile, findExpiredTrash, sumExpiredTrash } from './rooms/files/trash.ts';
import { deleteDueProjects, listDueProjects } from './rooms/projects/queries.ts';
import {
  countPendingBlobDeletions,
  countStaleUploads,
  deletePendingBlobDeletion,
  deleteUploadRow,
  dropStaleUpload,
  findStaleUploads,
  listPendingBlobDeletions,
} from './rooms/uploads/queries.ts';
import { releaseSwept } from './rooms/webhooks/queries.ts';
import { singleFlight } from './single-flight.ts';
import { areDeletionsHeld } from './storage/hold.ts';
import type { Storage } from './storage/storage.ts';

const DAY_SECONDS = 24 * 60 * 60;
const INTERVAL_MS = 10 * 60 * 1000;

type Swept = Pick<Deps, 'clock' | 'config' | 'projectNotifier' | 'db' | 'opened' | 'storage' | 'watch' | 'log'>;

/** Deletes expired keys, events, acts, projects, files in the trash, uploads and blobs, and hashes new files. Several servers may run it at once. */
export async function sweep(deps: Swept): Promise<void> {
  await deleteExpiredKeys(deps.db);
  const projectIds = await deleteExpiredEvents(deps.db, secondsFromNow(-deps.config.eventDays * DAY_SECONDS));
  if (projectIds.length > 0) await inTransaction(deps.db, (trx) => releaseSwept(trx, projectIds, deps.clock()));
  if (deps.opened.dialect === 'postgres') await deleteExpiredCounts(deps.db);
  // Deleting a large project can take longer than the statement timeout.
  await withoutTimeouts(deps.opened, (db) => deleteDueProjects(db, secondsFromNow(0)));
  await deleteExpiredActs(deps.db, secondsFromNow(-deps.config.auditDays * DAY_SECONDS));
  await emptyTrash(deps);
  await dropStaleUploads(deps);
  await removePendingBlobs(deps);
  await hashUploadedFiles(deps);
}

/** Returns what a sweep would delete now. Files of due projects may be counted in the trash too. */
export async function previewSweep(deps: Swept) {
  const { db, config, storage } = deps;
  return {
    idempotencyKeys: await countExpiredKeys(db),
    events: await countExpiredEvents(db, secondsFromNow(-config.eventDays * DAY_SECONDS)),
    acts: await countExpiredActs(db, secondsFromNow(-config.auditDays * DAY_SECONDS)),
    projects: await listDueProjects(db, secondsFromNow(0)),
    trash: await sumExpiredTrash(db, secondsFromNow(-config.trashDays * DAY_SECONDS)),
    uploads: await countStaleUploads(db, secondsFromNow(0)),
    blobs: await countPendingBlobDeletions(db),
    /** Whether a backup keeps blobs from being deleted. */
    blobsAreHeld: await areDeletionsHeld(storage),
  };
}

/** Deletes files that were in the trash for the whole retention time. */
async function emptyTrash(deps: Swept): Promise<void> {
  for (;;) {
    const expired = await findExpiredTrash(deps.db, secondsFromNow(-deps.config.trashDays * DAY_SECONDS));
    for (const id of expired) {
      await writeWithEvents(deps, null, async (trx) => {
        const { deleted } = await deleteTrashedFile(trx, id, now());
        return { answer: undefined, events: deleted.map(fileDeleted) };
      });
    }
    if (expired.length === 0) return;
  }
}

/** Deletes expired unfinished uploads with their files, and expired unused attachments. */
async function dropStaleUploads(deps: Swept): Promise<void> {
  for (;;) {
    const stale = await findStaleUploads(deps.db, secondsFromNow(0));
    for (const { id, completed } of stale) {
      await writeWithEvents(deps, null, async (trx) => {
        const unchanged = { answer: undefined, events: [] };
        if (id.startsWith('FX') && completed) return { ...unchanged, answer: await deleteUploadRow(trx, id) };
        if (!(await dropStaleUpload(trx, { id, completed }, now()))) return unchanged;
        return { ...unchanged, events: (await deleteUnfinishedFile(trx, id)).map(fileDeleted) };
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
    // After the list is read: the rows of these blobs were deleted before a backup that starts now copies the database.
    if (pending.length > 0 && (await isHeld(storage, log))) return;
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

const isHeld = (storage: Storage, log: Logger): Promise<boolean> =>
  areDeletionsHeld(storage).catch((error: unknown) => {
    log.warn({ err: error }, 'blobs not deleted; the next sweep retries');
    return true;
  });

export function startSweeper(deps: Deps): Disposable {
  const run = singleFlight(() => sweep(deps).catch((error: unknown) => deps.log.error({ err: error }, 'sweep failed')));
  void run();
  const timer = setInterval(run, INTERVAL_MS);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
