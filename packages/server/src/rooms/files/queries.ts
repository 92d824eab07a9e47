import type { FileStatus, OutputType, ProjectRole, ReviewStatus } from '@review/contract';
import { type Selectable, sql } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { type CursorPage, type PageRequest, takePage } from '../../db/cursor.ts';
import { containing, fold } from '../../db/fold.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { dropUploads, type PendingBlobDeletion, scheduleBlobDeletion } from '../uploads/queries.ts';
import { isRestricted, memberships, type Viewer } from '../visibility.ts';

type Row = Selectable<Schema['files']>;

export interface StoredFile {
  id: string;
  projectId: string;
  folderId: string | null;
  name: string;
  description: string | null;
  mode: 'GENERATED' | 'UPLOADED';
  status: FileStatus;
  tag: ReviewStatus;
  mimeType: string | null;
  size: number | null;
  sha256: string | null;
  storageKey: string | null;
  allowRestricted: boolean;
  createdBy: string;
  createdAt: string;
  updatedAt: string;
}

const record = (row: Row): StoredFile => ({
  id: row.id,
  projectId: row.project_id,
  folderId: row.folder_id,
  name: row.name,
  description: row.description,
  mode: row.mode,
  status: row.status,
  tag: row.tag,
  mimeType: row.mime_type,
  size: row.size,
  sha256: row.sha256,
  storageKey: row.storage_key,
  allowRestricted: row.allow_restricted === 1,
  createdBy: row.created_by,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

type VisibleFile = StoredFile & { role: ProjectRole; deletes_at: string | null; person_id: string };

export async function findVisibleFile(db: Database, viewer: Viewer, id: string): Promise<VisibleFile | undefined> {
  const row = await db
    .selectFrom('files as file')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'file.project_id')
    .selectAll('file')
    .select(['seen.role', 'seen.deletes_at'])
    .where('file.id', '=', id)
    .executeTakeFirst();
  if (row === undefined || (isRestricted(row.role) && row.allow_restricted !== 1)) return undefined;
  return { ...record(row), role: row.role, deletes_at: row.deletes_at, person_id: row.created_by };
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
  const rows = await takePage(query, { sort: 'created_at', id: 'id' }, (row) => [row.created_at, row.id], page);
  return { ...rows, items: rows.items.map(record) };
}

const foldedText = ({ name, description }: { name: string; description: string | null }) =>
  fold(`${name}\n${description ?? ''}`);

interface NewFile {
  id: string;
  projectId: string;
  folderId: string | null;
  name: string;
  createdBy: string;
  createdAt: string;
}

const newFile = (file: NewFile) => ({
  id: file.id,
  project_id: file.projectId,
  folder_id: file.folderId,
  name: file.name,
  folded_text: foldedText({ name: file.name, description: null }),
  tag: 'NEED_REVIEW' as const,
  allow_restricted: 0,
  created_by: file.createdBy,
  created_at: file.createdAt,
  updated_at: file.createdAt,
});

export async function insertUploadingFile(trx: Writer, file: NewFile): Promise<void> {
  await trx
    .insertInto('files')
    .values({ ...newFile(file), mode: 'UPLOADED', status: 'UPLOADING' })
    .execute();
}

export async function insertGeneratingFile(trx: Writer, file: NewFile & { outputType: OutputType }): Promise<void> {
  await trx
    .insertInto('files')
    .values({ ...newFile(file), mode: 'GENERATED', status: 'GENERATING', output_type: file.outputType })
    .execute();
}

type GeneratedContent = { storageKey: string; size: number; mimeType: string; sha256: string };

export async function endGeneratingFile(
  trx: Writer,
  id: string,
  outcome: { status: 'FAILED' | 'CANCELED' } | ({ status: 'UPLOADED' } & GeneratedContent),
  updatedAt: string,
): Promise<void> {
  const content =
    outcome.status === 'UPLOADED'
      ? {
          storage_key: outcome.storageKey,
          size: outcome.size,
          mime_type: outcome.mimeType,
          sha256: outcome.sha256,
        }
      : {};
  await trx
    .updateTable('files')
    .set({ status: outcome.status, updated_at: updatedAt, ...content })
    .where('id', '=', id)
    .where('status', '=', 'GENERATING')
    .execute();
}

export async function findStoredFiles(db: Database, ids: string[]): Promise<Map<string, StoredFile>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('files').selectAll().where('id', 'in', anyOf(ids)).execute();
  return new Map(rows.map((row) => [row.id, record(row)]));
}

/** Returns the file, locked until the transaction ends. The update locks the row on both databases. */
export async function lockFile(trx: Writer, id: string): Promise<StoredFile | undefined> {
  const row = await trx
    .updateTable('files')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row && record(row);
}

interface FileFields {
  name: string;
  description: string | null;
  folderId: string | null;
  allowRestricted: boolean;
}

export async function updateFile(trx: Writer, id: string, fields: FileFields, updatedAt: string): Promise<void> {
  await trx
    .updateTable('files')
    .set({
      name: fields.name,
      description: fields.description,
      folded_text: foldedText(fields),
      folder_id: fields.folderId,
      allow_restricted: fields.allowRestricted ? 1 : 0,
      updated_at: updatedAt,
    })
    .where('id', '=', id)
    .execute();
}

export async function updateTag(trx: Writer, id: string, tag: ReviewStatus, updatedAt: string): Promise<void> {
  await trx.updateTable('files').set({ tag, updated_at: updatedAt }).where('id', '=', id).execute();
}

/** Ends the upload of a file. Returns false if it had ended, because a final status never changes. */
export async function endUpload(
  trx: Writer,
  id: string,
  outcome: { status: 'CANCELED' } | { status: 'UPLOADED'; mimeType: string; size: number; storageKey: string },
  updatedAt: string,
): Promise<boolean> {
  const content =
    outcome.status === 'UPLOADED'
      ? { mime_type: outcome.mimeType, size: outcome.size, storage_key: outcome.storageKey }
      : {};
  const result = await trx
    .updateTable('files')
    .set({ status: outcome.status, updated_at: updatedAt, ...content })
    .where('id', '=', id)
    .where('status', '=', 'UPLOADING')
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
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
export async function findUnhashedFiles(db: Database, afterId: string): Promise<{ id: string; storageKey: string }[]> {
  const rows = await db
    .selectFrom('files')
    .select(['id', 'storage_key'])
    .where('status', '=', 'UPLOADED')
    .where('sha256', 'is', null)
    .where('storage_key', 'is not', null)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(20)
    .execute();
  return rows.flatMap((row) => (row.storage_key === null ? [] : [{ id: row.id, storageKey: row.storage_key }]));
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
  return new Map(rows.map((row) => [row.id, record(row)]));
}
