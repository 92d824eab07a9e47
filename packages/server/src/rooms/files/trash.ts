import { type NotNull, sql } from 'kysely';
import { preparedPages } from '../../db/cursor.ts';
import { locked } from '../../db/locked.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Database, Writer } from '../../db/schema.ts';
import { MEDIA_COLUMNS } from '../media/queries.ts';
import { dropRenditions } from '../media/renditions.ts';
import { dropUploads, scheduleBlobDeletion } from '../uploads/queries.ts';
import { FILE_COLUMNS } from './queries.ts';

export const listTrash = preparedPages(
  'files',
  (db, { projectId }: Params<{ projectId: string }>, _choice: object) =>
    db
      .selectFrom('files')
      .leftJoin('media', 'media.file_id', 'files.id')
      .select(FILE_COLUMNS)
      .select(MEDIA_COLUMNS)
      .where('files.project_id', '=', projectId)
      .where('files.trashed_at', 'is not', null)
      .$narrowType<{ trashed_at: NotNull }>(),
  () => 'trashed_at',
);

/** Moves a file to the trash. Returns it unless it is there already. */
export const trashFile = prepared.all((db, { id, at }: Params<{ id: string; at: string }>) =>
  db
    .updateTable('files')
    .set({ trashed_at: at })
    .where('id', '=', id)
    .where('trashed_at', 'is', null)
    .returning(['id', 'project_id', 'allow_restricted']),
);

/** Takes a file out of the trash. Returns it if it was there. */
export const restoreFile = prepared.first((db, id: Param<string>) =>
  db
    .updateTable('files')
    .set({ trashed_at: null })
    .where('id', '=', id)
    .where('trashed_at', 'is not', null)
    .returning(['id', 'project_id', 'folder_id']),
);

const lockTrashed = prepared.exists((db, id: Param<string>) =>
  locked(db, db.selectFrom('files').select('id').where('id', '=', id).where('trashed_at', 'is not', null)),
);

/**
 * Deletes a file in the trash and schedules the deletion of its blobs. Returns its unfinished uploads of renditions, and the
 * file if it was in the trash.
 */
export async function deleteTrashedFile(trx: Writer, id: string, at: string) {
  // A file that is restored meanwhile is kept.
  if (!(await lockTrashed(trx, id))) return { dropped: [], deleted: [] };
  const dropped = await dropUploads(trx, [id], at);
  dropped.push(...(await dropRenditions(trx, id, at)));
  const deleted = await trx
    .deleteFrom('files')
    .where('id', '=', id)
    .returning(['id', 'project_id', 'allow_restricted', 'storage_key'])
    .execute();
  await scheduleBlobDeletion(
    trx,
    deleted.flatMap(({ storage_key: key }) => (key === null ? [] : [{ key, upload: null }])),
    at,
  );
  return { dropped, deleted };
}

/** Returns up to 100 files that were moved to the trash before a time, the oldest first. */
export const findExpiredTrash = prepared(
  (db, before: Param<string>) =>
    db
      .selectFrom('files')
      .select('id')
      .where('trashed_at', '<', before)
      // Matches the partial index.
      .where('trashed_at', 'is not', null)
      .orderBy('trashed_at')
      .orderBy('id')
      .limit(sql.lit(100)),
  (rows) => rows.map(({ id }) => id),
);

/** Returns the number and the size of the files that were moved to the trash before a time. */
export async function sumExpiredTrash(db: Database, before: string): Promise<{ files: number; bytes: number }> {
  return db
    .selectFrom('files')
    .select((eb) => [
      eb.fn.countAll<number>().as('files'),
      sql<number>`cast(coalesce(sum(size), 0) as bigint)`.as('bytes'),
    ])
    .where('trashed_at', '<', before)
    .where('trashed_at', 'is not', null)
    .executeTakeFirstOrThrow();
}
