import type { FileStatus, OutputType, ProjectRole, ReviewStatus } from '@review/contract';
import { type Insertable, type NotNull, type Selectable, sql } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { type CursorPage, type PageRequest, takePage } from '../../db/cursor.ts';
import { containing, fold } from '../../db/fold.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { dropUploads, type PendingBlobDeletion, scheduleBlobDeletion } from '../uploads/queries.ts';
import { isHidden, isRestricted, type Membership, memberships, type Viewer } from '../visibility.ts';

export type StoredFile = Selectable<Schema['files']>;

type VisibleFile = StoredFile & Membership & { person_id: string };

export async function findVisibleFile(db: Database, viewer: Viewer, id: string): Promise<VisibleFile | undefined> {
  const file = await db
    .selectFrom('files as file')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'file.project_id')
    .selectAll('file')
    .select(['seen.role', 'seen.deletes_at', 'file.created_by as person_id'])
    .where('file.id', '=', id)
    .executeTakeFirst();
  return file && isHidden(file) ? undefined : file;
}

const filesOf = (db: Database, projectId: string, role: ProjectRole) =>
  db
    .selectFrom('files')
    .selectAll()
    .where('project_id', '=', projectId)
    .$if(isRestricted(role), (files) => files.where('allow_restricted', '=', 1));

interface FileFilters {
  keyword?: string | undefined;
  /** Null is the root of the project. */
  folderId?: string | null | undefined;
  status?: FileStatus | undefined;
  outputType?: OutputType | undefined;
  tag?: ReviewStatus | undefined;
}

export async function listFiles(
  db: Database,
  project: { id: string; role: ProjectRole },
  { keyword, folderId, status, outputType, tag }: FileFilters,
  page: PageRequest,
): Promise<CursorPage<StoredFile>> {
  let query = filesOf(db, project.id, project.role);
  if (keyword !== undefined) query = query.where(sql<boolean>`folded_text like ${containing(keyword)} escape '\\'`);
  if (folderId === null) query = query.where('folder_id', 'is', null);
  else if (folderId !== undefined) query = query.where('folder_id', '=', folderId);
  if (status !== undefined) query = query.where('status', '=', status);
  if (outputType !== undefined) query = query.where('output_type', '=', outputType);
  if (tag !== undefined) query = query.where('tag', '=', tag);
  return takePage(query, { sort: 'created_at', id: 'id' }, (row) => [row.created_at, row.id], page);
}

const foldedText = ({ name, description }: { name: string; description: string | null }) =>
  fold(`${name}\n${description ?? ''}`);

type NewFile = Omit<Insertable<Schema['files']>, 'folded_text' | 'tag' | 'allow_restricted' | 'updated_at'>;

export async function insertFile(trx: Writer, file: NewFile): Promise<void> {
  await trx
    .insertInto('files')
    .values({
      ...file,
      folded_text: foldedText({ name: file.name, description: null }),
      tag: 'NEED_REVIEW',
      allow_restricted: 0,
      updated_at: file.created_at,
    })
    .execute();
}

type Outcome =
  | { status: 'FAILED' | 'CANCELED' }
  | { status: 'UPLOADED'; storage_key: string; size: number; mime_type: string; sha256?: string };

/** Ends the upload or generation of a file. Returns false if it had ended, because a final status never changes. */
export async function setFinalStatus(
  trx: Writer,
  id: string,
  current: 'UPLOADING' | 'GENERATING',
  outcome: Outcome,
  updatedAt: string,
): Promise<boolean> {
  const result = await trx
    .updateTable('files')
    .set({ ...outcome, updated_at: updatedAt })
    .where('id', '=', id)
    .where('status', '=', current)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

export async function findStoredFiles(db: Database, ids: string[]): Promise<Map<string, StoredFile>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('files').selectAll().where('id', 'in', anyOf(ids)).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Returns the file, locked until the transaction ends. The update locks the row on both databases. */
export async function lockFile(trx: Writer, id: string): Promise<StoredFile | undefined> {
  return trx
    .updateTable('files')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

type FileFields = Pick<StoredFile, 'name' | 'description' | 'folder_id' | 'allow_restricted'>;

export async function updateFile(trx: Writer, id: string, fields: FileFields, updatedAt: string): Promise<void> {
  await trx
    .updateTable('files')
    .set({ ...fields, folded_text: foldedText(fields), updated_at: updatedAt })
    .where('id', '=', id)
    .execute();
}

export async function updateTag(trx: Writer, id: string, tag: ReviewStatus, updatedAt: string): Promise<void> {
  await trx.updateTable('files').set({ tag, updated_at: updatedAt }).where('id', '=', id).execute();
}

/** Deletes a file, schedules the deletion of its blob, and returns its unfinished upload. */
export async function deleteFile(trx: Writer, id: string, at: string): Promise<PendingBlobDeletion[]> {
  const dropped = await dropUploads(trx, [id], at);
  const deleted = await trx.deleteFrom('files').where('id', '=', id).returning('storage_key').execute();
  await scheduleBlobDeletion(
    trx,
    deleted.flatMap(({ storage_key: key }) => (key === null ? [] : [{ key, upload: null }])),
    at,
  );
  return dropped;
}

/** Deletes a file whose upload is not finished. */
export async function deleteUnfinishedFile(trx: Writer, id: string): Promise<void> {
  await trx.deleteFrom('files').where('id', '=', id).where('status', '=', 'UPLOADING').execute();
}

/** Returns up to 20 uploaded files without a hash, ordered by id. */
export async function findUnhashedFiles(db: Database, afterId: string): Promise<{ id: string; storage_key: string }[]> {
  return db
    .selectFrom('files')
    .select(['id', 'storage_key'])
    .where('status', '=', 'UPLOADED')
    .where('sha256', 'is', null)
    .where('storage_key', 'is not', null)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(20)
    .$narrowType<{ storage_key: NotNull }>()
    .execute();
}

export async function setHash(db: Database, id: string, sha256: string): Promise<void> {
  await db.updateTable('files').set({ sha256 }).where('id', '=', id).execute();
}

/** Returns those files that belong to the project and are visible to the role. */
export async function findFilesOf(
  db: Database,
  project: { id: string; role: ProjectRole },
  ids: string[],
): Promise<Map<string, StoredFile>> {
  if (ids.length === 0) return new Map();
  const rows = await filesOf(db, project.id, project.role).where('id', 'in', anyOf(ids)).execute();
  return new Map(rows.map((row) => [row.id, row]));
}
