import { OPEN_GENERATION_STATUSES } from '@review/contract';
import { type ExpressionBuilder, type Insertable, type Selectable, sql } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';

export type Upload = Selectable<Schema['uploads']>;
/** What the event of a deleted file needs. */
export type DeletedFile = Pick<Selectable<Schema['files']>, 'id' | 'project_id' | 'allow_restricted'>;
export type NewUploadRow = Insertable<Schema['uploads']>;

export const insertUpload = prepared.run((db, upload: Params<NewUploadRow>) => db.insertInto('uploads').values(upload));

export const findUpload = prepared.first((db, id: Param<string>) =>
  db.selectFrom('uploads').selectAll().where('id', '=', id),
);

export const findUploads = prepared(
  (db, ids: Param<string[]>) =>
    db
      .selectFrom('uploads')
      .selectAll()
      .where('id', ...anyOf(db, ids)),
  (rows) => new Map(rows.map((row) => [row.id, row])),
);

/** Stores the storage's id of the upload. Returns false if another request was first. */
export const setStorageUpload = prepared.changed(
  (db, { id, storageUpload }: Params<{ id: string; storageUpload: string }>) =>
    db
      .updateTable('uploads')
      .set({ storage_upload: storageUpload })
      .where('id', '=', id)
      .where('storage_upload', 'is', null),
);

const SEVERAL = 'several';

/** Records the parts of a complete call before the storage is called. */
export const recordCompletion = prepared.run(
  (db, { id, completingWith }: Params<{ id: string; completingWith: string }>) =>
    db
      .updateTable('uploads')
      .set((eb) => ({
        completing_with: eb
          .case()
          .when(eb.fn.coalesce('completing_with', completingWith), '=', completingWith)
          .then(completingWith)
          .else(SEVERAL)
          .end(),
      }))
      .where('id', '=', id),
);

/** Marks the upload as completed. Returns false if it was completed already, or replaced by one with another key. */
export const markCompleted = prepared.changed(
  (db, { id, key, ...outcome }: Params<{ id: string; key: string; completed_with: string; mime_type: string }>) =>
    db
      .updateTable('uploads')
      .set(outcome)
      .where('id', '=', id)
      .where('storage_key', '=', key)
      .where('completed_with', 'is', null),
);

const deleteUploads = prepared.all((db, ids: Param<string[]>) =>
  db
    .deleteFrom('uploads')
    .where('id', ...anyOf(db, ids))
    .returning(['storage_key as key', 'storage_upload as upload']),
);

const deleteUnfinished = prepared.all((db, id: Param<string>) =>
  db
    .deleteFrom('uploads')
    .where('id', '=', id)
    .where('completed_with', 'is', null)
    .returning(['storage_key as key', 'storage_upload as upload']),
);

/** Deletes uploads, schedules the deletion of their blobs, and returns them. */
export async function dropUploads(trx: Writer, ids: string[], at: string): Promise<PendingBlobDeletion[]> {
  const dropped = await deleteUploads(trx, ids);
  await scheduleBlobDeletion(trx, dropped, at);
  return dropped;
}

/** As `dropUploads`, for an upload that is not completed. */
export async function dropUnfinishedUpload(trx: Writer, id: string, at: string): Promise<PendingBlobDeletion[]> {
  const dropped = await deleteUnfinished(trx, id);
  await scheduleBlobDeletion(trx, dropped, at);
  return dropped;
}

type Within = { projectId: string } | { workspaceId: string };

/** A user who started uploads in one project or in a workspace. */
export type Starter = { userId: string } & Within;

const projectsWithin = (db: Database, within: Within) =>
  db
    .selectFrom('projects')
    .select('projects.id')
    .where((eb) =>
      'projectId' in within ? eb('id', '=', within.projectId) : eb('workspace_id', '=', within.workspaceId),
    );

/** Deletes the user's unfinished uploads, except results of generations, which workers upload. */
export async function deleteUnfinishedUploads(
  trx: Writer,
  { userId, ...within }: Starter,
  at: string,
): Promise<PendingBlobDeletion[]> {
  const dropped = await trx
    .deleteFrom('uploads')
    .where('started_by', '=', userId)
    .where('project_id', 'in', projectsWithin(trx, within))
    .where('completed_with', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('generations').select('file_id').whereRef('file_id', '=', 'uploads.id'))),
    )
    .returning(['storage_key as key', 'storage_upload as upload'])
    .execute();
  await scheduleBlobDeletion(trx, dropped, at);
  return dropped;
}

/** Deletes the files of the user's unfinished uploads, and returns them. */
export async function deleteUnfinishedFilesOf(trx: Writer, { userId, ...within }: Starter): Promise<DeletedFile[]> {
  return trx
    .deleteFrom('files')
    .where('created_by', '=', userId)
    .where('project_id', 'in', projectsWithin(trx, within))
    .where('status', '=', 'UPLOADING')
    .returning(['id', 'project_id', 'allow_restricted'])
    .execute();
}

/** Matches uploads that no comment and no generation uses. */
const isUnused = (eb: ExpressionBuilder<Schema, 'uploads'>) =>
  eb.and([
    eb('uploads.comment_id', 'is', null),
    eb.not(
      eb.exists(
        eb
          .selectFrom('generation_attachments as used')
          .select('used.file_id')
          .whereRef('used.attachment_id', '=', 'uploads.id'),
      ),
    ),
  ]);

/** Deletes an upload unless a comment or a generation uses it, schedules the deletion of its blob, and returns it. */
export async function dropUnusedUpload(trx: Writer, id: string, at: string): Promise<PendingBlobDeletion[]> {
  const dropped = await trx
    .deleteFrom('uploads')
    .where('id', '=', id)
    .where(isUnused)
    .returning(['storage_key as key', 'storage_upload as upload'])
    .execute();
  await scheduleBlobDeletion(trx, dropped, at);
  return dropped;
}

/** Returns up to 100 expired uploads that no comment and no generation uses. */
export async function findStaleUploads(db: Database, now: string): Promise<{ id: string; completed: boolean }[]> {
  const rows = await db
    .selectFrom('uploads')
    .select(['id', 'completed_with'])
    .where('expires_at', '<', now)
    .where(isUnused)
    .orderBy('expires_at')
    .limit(100)
    .execute();
  return rows.map((row) => ({ id: row.id, completed: row.completed_with !== null }));
}

interface ResultUpload extends Pick<Upload, 'id' | 'storage_key' | 'size' | 'created_at' | 'expires_at'> {
  epoch: number;
}

/**
 * Inserts the upload of a generation's result that the worker sends in one call. Returns false if the epoch is not current
 * or the generation has another upload.
 */
export const insertResultUpload = prepared.changed(
  (db, { id, epoch, storage_key, size, created_at, expires_at }: Params<ResultUpload>) =>
    db
      .insertInto('uploads')
      .columns([
        'id',
        'project_id',
        'started_by',
        'name',
        'size',
        'part_count',
        'storage_key',
        'created_at',
        'expires_at',
      ])
      .expression((eb) =>
        eb
          .selectFrom('generations')
          .innerJoin('files', 'files.id', 'generations.file_id')
          .select(['files.id', 'project_id', 'created_by', 'name'])
          .select([sql<number>`cast(${size} as bigint)`.as('size'), sql.lit(1).as('part_count')])
          .select([
            sql<string>`${storage_key}`.as('storage_key'),
            sql<string>`${created_at}`.as('started_at'),
            sql<string>`${expires_at}`.as('expires_at'),
          ])
          .where('file_id', '=', id)
          .where('epoch', '=', epoch)
          .where('generations.status', 'in', OPEN_GENERATION_STATUSES),
      )
      .onConflict((conflict) => conflict.column('id').doNothing()),
);

/** Deletes the upload row if it still has that key. */
export const deleteUploadWith = prepared.changed((db, { id, key }: Params<{ id: string; key: string }>) =>
  db.deleteFrom('uploads').where('id', '=', id).where('storage_key', '=', key),
);

/** Deletes the upload row and keeps the blob, which belongs to the file. */
export const deleteUploadRow = prepared.run((db, id: Param<string>) => db.deleteFrom('uploads').where('id', '=', id));

/**
 * Deletes a stale upload and schedules the deletion of its blob. Returns false if the upload was completed or attached to a
 * comment since it was found.
 */
export async function dropStaleUpload(
  trx: Writer,
  { id, completed }: { id: string; completed: boolean },
  at: string,
): Promise<boolean> {
  const dropped = await trx
    .deleteFrom('uploads')
    .where('id', '=', id)
    .where(isUnused)
    .where('completed_with', completed ? 'is not' : 'is', null)
    .returning(['storage_key as key', 'storage_upload as upload'])
    .execute();
  await scheduleBlobDeletion(trx, dropped, at);
  return dropped.length > 0;
}

export interface PendingBlobDeletion {
  key: string;
  upload: string | null;
}

/** Schedules the deletion of blobs in the transaction that deletes their rows. The sweep deletes them from the storage. */
export async function scheduleBlobDeletion(trx: Writer, blobs: PendingBlobDeletion[], at: string): Promise<void> {
  for (let start = 0; start < blobs.length; start += 1000) {
    await trx
      .insertInto('pending_blob_deletions')
      .values(
        blobs
          .slice(start, start + 1000)
          .map(({ key, upload }) => ({ storage_key: key, storage_upload: upload, scheduled_at: at })),
      )
      .onConflict((conflict) => conflict.column('storage_key').doNothing())
      .execute();
  }
}

/** As `scheduleBlobDeletion`, for all blobs of a project. */
export async function scheduleProjectBlobDeletion(trx: Writer, projectId: string, at: string): Promise<void> {
  await sql`insert into pending_blob_deletions (storage_key, storage_upload, scheduled_at)
    select storage_key, storage_upload, ${at} from uploads where project_id = ${projectId}
    on conflict (storage_key) do nothing`.execute(trx);
  await sql`insert into pending_blob_deletions (storage_key, storage_upload, scheduled_at)
    select storage_key, null, ${at} from files where project_id = ${projectId} and storage_key is not null
    on conflict (storage_key) do nothing`.execute(trx);
}

/** Returns up to 100 pending deletions, ordered by key. */
export async function listPendingBlobDeletions(db: Database, afterKey: string): Promise<PendingBlobDeletion[]> {
  return db
    .selectFrom('pending_blob_deletions')
    .select(['storage_key as key', 'storage_upload as upload'])
    .where('storage_key', '>', afterKey)
    .orderBy('storage_key')
    .limit(100)
    .execute();
}

export async function deletePendingBlobDeletion(db: Database, key: string): Promise<void> {
  await db.deleteFrom('pending_blob_deletions').where('storage_key', '=', key).execute();
}

/** Counts what the sweep would drop: expired unfinished uploads, and expired attachments that nothing uses. */
export async function countStaleUploads(db: Database, now: string): Promise<number> {
  const { count } = await db
    .selectFrom('uploads')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('expires_at', '<', now)
    .where(isUnused)
    // The rows of completed files are removed, but not their content.
    .where((eb) => eb.not(eb.and([eb(sql`substr(uploads.id, 1, 2)`, '=', 'FX'), eb('completed_with', 'is not', null)])))
    .executeTakeFirstOrThrow();
  return count;
}

export async function countPendingBlobDeletions(db: Database): Promise<number> {
  const { count } = await db
    .selectFrom('pending_blob_deletions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
