import type { FileStatus, OutputType, ProjectRole, ReviewStatus } from '@review/contract';
import type { Insertable, NotNull, Selectable, Updateable } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { fold } from '../../db/fold.ts';
import { locked } from '../../db/locked.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { preparedSearch, wholeTable } from '../../db/search.ts';
import { MEDIA_COLUMNS, type MediaColumns } from '../media/queries.ts';
import type { DeletedFile } from '../uploads/queries.ts';
import { isRestricted, memberships, RESTRICTED, type Viewer } from '../visibility.ts';

/** All but the texts for the search and the order by name. */
const COLUMNS = [
  'id',
  'project_id',
  'folder_id',
  'name',
  'description',
  'mode',
  'status',
  'tag',
  'output_type',
  'mime_type',
  'size',
  'sha256',
  'storage_key',
  'allow_restricted',
  'created_by',
  'created_at',
  'updated_at',
  'trashed_at',
] as const satisfies (keyof Schema['files'])[];

export const FILE_COLUMNS = COLUMNS.map((column) => `files.${column}` as const);

export type StoredFile = Pick<Selectable<Schema['files']>, (typeof COLUMNS)[number]>;
/** A file with what a response shows of its media. */
export type ShownFile = StoredFile & MediaColumns;

/** Finds a file whether it is in the trash or not. */
export const findStoredFile = prepared.lookUp((db, given: Params<Viewer & { id: string }>) => visibleFile(db, given));

export const findVisibleFile = prepared.lookUp((db, given: Params<Viewer & { id: string }>) =>
  visibleFile(db, given).where('file.trashed_at', 'is', null),
);

const visibleFile = (db: Database, { id, ...viewer }: Params<Viewer & { id: string }>) =>
  db
    .selectFrom('files as file')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'file.project_id')
    .leftJoin('media', 'media.file_id', 'file.id')
    .select(COLUMNS.map((column) => `file.${column}` as const))
    .select(MEDIA_COLUMNS)
    .select(['seen.role', 'seen.deletes_at', 'file.created_by as person_id'])
    .where('file.id', '=', id)
    .where((eb) => eb.or([eb('seen.role', '!=', RESTRICTED), eb('file.allow_restricted', '=', 1)]));

const filesOf = (db: Database, projectId: Param<string>, restricted: boolean, source = wholeTable('files')) =>
  db
    .selectFrom(source)
    .select(FILE_COLUMNS)
    .where('files.project_id', '=', projectId)
    .where('files.trashed_at', 'is', null)
    .$if(restricted, (files) => files.where('files.allow_restricted', '=', 1));

interface FileFilters {
  folderId?: string | undefined;
  status?: FileStatus | undefined;
  outputType?: OutputType | undefined;
  tag?: ReviewStatus | undefined;
  minDuration?: number | undefined;
  maxDuration?: number | undefined;
  minResolution?: number | undefined;
  maxResolution?: number | undefined;
}

const SORT_COLUMNS = { name: 'folded_name', createdAt: 'created_at' } as const;

export const listFiles = preparedSearch(
  'files',
  (
    db,
    {
      projectId,
      folderId,
      status,
      outputType,
      tag,
      minDuration,
      maxDuration,
      minResolution,
      maxResolution,
    }: Params<FileFilters & { projectId: string }>,
    { restricted, atRoot }: { restricted: boolean; atRoot: boolean; sort: keyof typeof SORT_COLUMNS },
    source,
  ) => {
    let query = filesOf(db, projectId, restricted, source)
      .leftJoin('media', 'media.file_id', 'files.id')
      .select(MEDIA_COLUMNS)
      .select('files.folded_name');
    if (atRoot) query = query.where('files.folder_id', 'is', null);
    if (folderId !== undefined) query = query.where('files.folder_id', '=', folderId);
    if (status !== undefined) query = query.where('files.status', '=', status);
    if (outputType !== undefined) query = query.where('files.output_type', '=', outputType);
    if (tag !== undefined) query = query.where('files.tag', '=', tag);
    if (minDuration !== undefined) query = query.where('media.duration_ms', '>=', minDuration);
    if (maxDuration !== undefined) query = query.where('media.duration_ms', '<=', maxDuration);
    if (minResolution !== undefined) query = query.where('media.short_side', '>=', minResolution);
    if (maxResolution !== undefined) query = query.where('media.short_side', '<=', maxResolution);
    return query;
  },
  ({ sort }) => SORT_COLUMNS[sort],
  ({ projectId }) => projectId,
);

/** The name ends at the first line break: `folded_name` is made of it. */
const foldedText = ({ name, description }: { name: string; description: string | null }) =>
  fold(`${name}\n${description ?? ''}`);

type NewFile = Omit<Insertable<Schema['files']>, 'folded_text' | 'tag' | 'allow_restricted' | 'updated_at'>;

const insertRow = prepared.run((db, file: Params<Insertable<Schema['files']>>) => db.insertInto('files').values(file));

export const insertFile = (trx: Writer, file: NewFile) =>
  insertRow(trx, {
    ...file,
    folded_text: foldedText({ name: file.name, description: null }),
    tag: 'NEED_REVIEW',
    allow_restricted: 0,
    updated_at: file.created_at,
  });

type Outcome =
  | { status: 'FAILED' | 'CANCELED' }
  | { status: 'UPLOADED'; storage_key: string; size: number; mime_type: string; sha256?: string };

const updateRow = prepared.changed((db, { id, ...changes }: Params<{ id: string } & Updateable<Schema['files']>>) =>
  db.updateTable('files').set(changes).where('id', '=', id),
);

const endRow = prepared.first(
  (db, { id, current, ...changes }: Params<{ id: string; current: FileStatus } & Updateable<Schema['files']>>) =>
    db
      .updateTable('files')
      .set(changes)
      .where('id', '=', id)
      .where('status', '=', current)
      .returning(['project_id', 'created_at']),
);

/** Ends the upload or generation of a file. Returns undefined if it had ended, because a final status never changes. */
export const setFinalStatus = (
  trx: Writer,
  id: string,
  current: 'UPLOADING' | 'GENERATING',
  outcome: Outcome,
  updatedAt: string,
) => endRow(trx, { id, current, ...outcome, updated_at: updatedAt });

export const findStoredFiles = prepared(
  (db, ids: Param<string[]>) =>
    db
      .selectFrom('files')
      .select(COLUMNS)
      .where('id', ...anyOf(db, ids)),
  (rows) => new Map(rows.map((row) => [row.id, row])),
);

/** Returns the file, locked until the transaction ends, unless it is in the trash. */
export const lockFile = prepared.first((db, id: Param<string>) =>
  locked(db, db.selectFrom('files').select(COLUMNS).where('id', '=', id).where('trashed_at', 'is', null)),
);

type FileFields = Pick<StoredFile, 'name' | 'description' | 'folder_id' | 'allow_restricted'>;

export const updateFile = (trx: Writer, id: string, fields: FileFields, updatedAt: string) =>
  updateRow(trx, { id, ...fields, folded_text: foldedText(fields), updated_at: updatedAt });

/** Returns false if the file is deleted. */
export const updateTag = prepared.changed(
  (db, { id, tag, updatedAt }: Params<{ id: string; tag: ReviewStatus; updatedAt: string }>) =>
    db.updateTable('files').set({ tag, updated_at: updatedAt }).where('id', '=', id).where('trashed_at', 'is', null),
);

/** Deletes a file whose upload is not finished. Returns it if there was one. */
export async function deleteUnfinishedFile(trx: Writer, id: string): Promise<DeletedFile[]> {
  return trx
    .deleteFrom('files')
    .where('id', '=', id)
    .where('status', '=', 'UPLOADING')
    .returning(['id', 'project_id', 'allow_restricted'])
    .execute();
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

export const setHash = (db: Database, id: string, sha256: string) => updateRow(db, { id, sha256 });

const findAmong = prepared.all(
  (db, { projectId, ids }: Params<{ projectId: string; ids: string[] }>, restricted: boolean) =>
    filesOf(db, projectId, restricted).where('id', ...anyOf(db, ids)),
);

/** Returns those files that belong to the project and are visible to the role. */
export async function findFilesOf(
  db: Database,
  project: { id: string; role: ProjectRole },
  ids: string[],
): Promise<Map<string, StoredFile>> {
  if (ids.length === 0) return new Map();
  const rows = await findAmong(db, { projectId: project.id, ids }, isRestricted(project.role));
  return new Map(rows.map((row) => [row.id, row]));
}
