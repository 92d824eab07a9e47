import { MAX_PAGES } from '@review/contract';
import type { Insertable, Selectable } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { Moment, timeOf } from '../../db/clock.ts';
import { parseJson } from '../../db/json.ts';
import { isPostgres, type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { inStatement } from '../../db/transaction.ts';
import { mediaKindOf } from './kind.ts';

interface Claim {
  fileId: string;
  epoch: number;
}

type NewTask = Omit<Insertable<Schema['media']>, 'due_at'>;

const insertTask = prepared.run((db, { now, ...task }: Params<NewTask & { now: Moment }>) =>
  db
    .insertInto('media')
    .values({ ...task, due_at: timeOf(db, now) })
    .onConflict((conflict) =>
      conflict.column('file_id').doUpdateSet((eb) => ({
        status: 'PENDING',
        error: null,
        pages: null,
        build: eb('media.build', '+', 1),
        attempts: 0,
        // Fences off a worker that reads it now.
        epoch: eb('media.epoch', '+', 1),
        due_at: eb.ref('excluded.due_at'),
      })),
    ),
);

interface CompleteFile {
  id: string;
  project_id: string;
  mime_type: string | null;
  created_at: string;
}

/** Adds the task to read the media of a file whose content is complete; again if there is one. Does nothing if it is not media. */
export async function addMediaTask(trx: Writer, file: CompleteFile): Promise<void> {
  const kind = mediaKindOf(file.mime_type);
  if (kind === null) return;
  await insertTask(trx, {
    file_id: file.id,
    project_id: file.project_id,
    kind,
    status: 'PENDING',
    build: 1,
    attempts: 0,
    epoch: 0,
    created_at: file.created_at,
    now: new Moment(0, isPostgres(trx)),
  });
}

const findPages = prepared.first((db, fileId: Param<string>) =>
  db.selectFrom('media').select(['kind', 'pages']).where('file_id', '=', fileId),
);

const setPages = prepared.run((db, { fileId, pages, now }: Params<{ fileId: string; pages: string; now: Moment }>) =>
  db
    .updateTable('media')
    .set((eb) => ({
      pages,
      status: 'PENDING',
      error: null,
      attempts: 0,
      epoch: eb('epoch', '+', 1),
      due_at: timeOf(db, now),
    }))
    .where('file_id', '=', fileId),
);

/** Adds the task to make pictures of pages, besides those that the file has. Does nothing if it is not a document. */
export async function addPagesTask(trx: Writer, fileId: string, pages: readonly number[]): Promise<void> {
  const media = await findPages(trx, fileId);
  if (media?.kind !== 'DOCUMENT') return;
  const known = parseJson(media.pages) ?? [];
  const wanted = [...new Set([...known, ...pages])].slice(0, MAX_PAGES);
  await setPages(trx, { fileId, pages: JSON.stringify(wanted), now: new Moment(0, isPostgres(trx)) });
}

const findDue = prepared(
  (db, { now, limit }: Params<{ now: Moment; limit: number }>) =>
    db
      .selectFrom('media')
      .select('file_id')
      .where('due_at', '<=', timeOf(db, now))
      .where('due_at', 'is not', null)
      .orderBy('due_at')
      .limit(limit),
  (rows) => rows.map((row) => row.file_id),
);

/** Returns how many tasks no worker holds, and since when the oldest is due. */
export const findBacklog = prepared.one((db, { now }: Params<{ now: Moment }>) =>
  db
    .selectFrom('media')
    .select((eb) => [eb.fn.countAll<number>().as('depth'), eb.fn.min('due_at').as('oldestAt')])
    .where('due_at', '<=', timeOf(db, now))
    .where('due_at', 'is not', null),
);

const lease = prepared.all((db, { ids, now, leaseUntil }: Params<{ ids: string[]; now: Moment; leaseUntil: Moment }>) =>
  db
    .updateTable('media')
    .set((eb) => ({ epoch: eb('epoch', '+', 1), due_at: timeOf(db, leaseUntil) }))
    .where('file_id', ...anyOf(db, ids))
    // Another process may have claimed it since it was selected.
    .where('due_at', '<=', timeOf(db, now))
    .returning(['file_id as fileId', 'epoch']),
);

/** Claims files whose media is to be read and that no process holds, those that wait longest first. */
export async function claimDueMedia(
  db: Database,
  { now, leaseUntil, limit }: { now: Moment; leaseUntil: Moment; limit: number },
): Promise<Claim[]> {
  const ids = await findDue(db, { now, limit });
  // Most looks of a waiting worker find nothing, and need no lock.
  return ids.length === 0 ? [] : inStatement(db, (trx) => lease(trx, { ids, now, leaseUntil }));
}

type Held = Selectable<Schema['media']>;

/** Renews the lease of a task and locks it. Undefined if it has ended or another worker holds it. */
export const holdMedia = prepared.first(
  (db, { fileId, epoch, leaseUntil }: Params<{ fileId: string; epoch: number; leaseUntil: Moment }>) =>
    db
      .updateTable('media')
      .set({ due_at: timeOf(db, leaseUntil) })
      .where('file_id', '=', fileId)
      .where('epoch', '=', epoch)
      .where('status', '=', 'PENDING')
      .returningAll(),
);

/** Counts an attempt and locks the task; without an epoch, takes it over. Returns it with the trace of the generation that made the file. Undefined as for `holdMedia`. */
export const beginAttempt = prepared.first(
  (db, { fileId, epoch, leaseUntil }: Params<{ fileId: string; epoch?: number | undefined; leaseUntil: Moment }>) => {
    const held = db
      .updateTable('media')
      .where('file_id', '=', fileId)
      .where('status', '=', 'PENDING')
      .returningAll()
      .returning((eb) =>
        eb
          .selectFrom('generations')
          .select('traceparent')
          .whereRef('generations.file_id', '=', 'media.file_id')
          .as('traceparent'),
      );
    const due_at = timeOf(db, leaseUntil);
    return epoch === undefined
      ? held.set((eb) => ({ due_at, attempts: eb('attempts', '+', 1), epoch: eb('epoch', '+', 1) }))
      : held.set((eb) => ({ due_at, attempts: eb('attempts', '+', 1) })).where('epoch', '=', epoch);
  },
);

/** Ends the lease, so that the task is claimed again at once. */
export const releaseMedia = prepared.changed(
  (db, { fileId, epoch, now }: Params<Claim & { now: Moment }>, uncounted: boolean) =>
    db
      .updateTable('media')
      .set((eb) => ({ due_at: timeOf(db, now), ...(uncounted && { attempts: eb('attempts', '-', 1) }) }))
      .where('file_id', '=', fileId)
      .where('epoch', '=', epoch)
      .where('status', '=', 'PENDING'),
);

type Outcome = Pick<Held, 'status' | 'error'> & { fileId: string };

export const endMedia = prepared.run((db, { fileId, ...outcome }: Params<Outcome>) =>
  db
    .updateTable('media')
    .set({ ...outcome, due_at: null })
    .where('file_id', '=', fileId),
);

type Facts = Pick<Held, 'facts' | 'duration_ms' | 'short_side'> & { fileId: string };

export const setFacts = prepared.run((db, { fileId, ...facts }: Params<Facts>) =>
  db.updateTable('media').set(facts).where('file_id', '=', fileId),
);

export const setThumbnail = prepared.run((db, { fileId, key }: Params<{ fileId: string; key: string | null }>) =>
  db.updateTable('media').set({ thumbnail_key: key }).where('file_id', '=', fileId),
);

/** Returns up to 500 files with complete content in the order of their ids, for a rebuild. */
export const listRebuildable = prepared.all((db, { afterId }: Params<{ afterId: string }>, which: RebuildChoice) =>
  db
    .selectFrom('files')
    .leftJoin('media', 'media.file_id', 'files.id')
    .select(['files.id', 'files.project_id', 'files.mime_type', 'files.created_at'])
    .where('files.id', '>', afterId)
    .where('files.status', '=', 'UPLOADED')
    .$if(which === 'missing', (files) => files.where('media.file_id', 'is', null))
    .$if(which === 'failed', (files) => files.where('media.error', 'is not', null))
    .orderBy('files.id')
    .limit(500),
);
export type RebuildChoice = 'missing' | 'failed' | 'all';

/** Returns the file as `addMediaTask` needs it. */
export const findCompleteFile = prepared.first((db, id: Param<string>) =>
  db
    .selectFrom('files')
    .select(['id', 'project_id', 'mime_type', 'created_at'])
    .where('id', '=', id)
    .where('status', '=', 'UPLOADED'),
);
