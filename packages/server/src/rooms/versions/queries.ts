import type { Direction, ProjectRole, ReviewStatus } from '@review/contract';
import { PAGE_SIZE } from '@review/contract';
import type { Selectable } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { fold } from '../../db/fold.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { isRestricted, memberships, type Viewer } from '../visibility.ts';

export interface StoredVersion {
  id: string;
  projectId: string;
  name: string;
  description: string | null;
  status: ReviewStatus;
  allowRestricted: boolean;
  createdAt: string;
  updatedAt: string;
}

const record = (row: Selectable<Schema['versions']>): StoredVersion => ({
  id: row.id,
  projectId: row.project_id,
  name: row.name,
  description: row.description,
  status: row.status,
  allowRestricted: row.allow_restricted === 1,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

type VisibleVersion = StoredVersion & { role: ProjectRole; deletes_at: string | null };

export async function findVisibleVersion(
  db: Database,
  viewer: Viewer,
  id: string,
): Promise<VisibleVersion | undefined> {
  const row = await db
    .selectFrom('versions as version')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'version.project_id')
    .selectAll('version')
    .select(['seen.role', 'seen.deletes_at'])
    .where('version.id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  if (isRestricted(row.role) && row.allow_restricted !== 1) return undefined;
  return { ...record(row), role: row.role, deletes_at: row.deletes_at };
}

const SORT_COLUMNS = { name: 'folded_name', createdAt: 'created_at' } as const;

/** Returns one numbered page and whether another follows. */
export async function listVersions(
  db: Database,
  project: { id: string; role: ProjectRole },
  asked: { page: number; sort: keyof typeof SORT_COLUMNS; direction: Direction },
): Promise<{ items: StoredVersion[]; hasNext: boolean }> {
  const rows = await db
    .selectFrom('versions')
    .selectAll()
    .where('project_id', '=', project.id)
    .$if(isRestricted(project.role), (versions) => versions.where('allow_restricted', '=', 1))
    .orderBy(SORT_COLUMNS[asked.sort], asked.direction)
    .orderBy('id', asked.direction)
    .limit(PAGE_SIZE + 1)
    .offset((asked.page - 1) * PAGE_SIZE)
    .execute();
  return { items: rows.slice(0, PAGE_SIZE).map(record), hasNext: rows.length > PAGE_SIZE };
}

/** Returns the files of a version that are visible to the role, in their order. */
export async function listVersionFiles(db: Database, versionId: string, role: ProjectRole): Promise<string[]> {
  const rows = await db
    .selectFrom('version_files as held')
    .innerJoin('files as file', 'file.id', 'held.file_id')
    .select('file.id')
    .where('held.version_id', '=', versionId)
    .$if(isRestricted(role), (files) => files.where('file.allow_restricted', '=', 1))
    .orderBy('held.position')
    .execute();
  return rows.map((row) => row.id);
}

interface VersionFields {
  name: string;
  description: string | null;
  allowRestricted: boolean;
}

const columns = ({ name, description, allowRestricted }: VersionFields) => ({
  ...nameColumns(name),
  description,
  allow_restricted: allowRestricted ? 1 : 0,
});

const nameColumns = (name: string) => ({ name, folded_name: fold(name) });

export async function insertVersion(
  trx: Writer,
  version: VersionFields & { id: string; projectId: string; createdAt: string },
): Promise<void> {
  const { id, projectId, createdAt } = version;
  await trx
    .insertInto('versions')
    .values({
      id,
      project_id: projectId,
      ...columns(version),
      status: 'NEED_REVIEW',
      created_at: createdAt,
      updated_at: createdAt,
    })
    .execute();
}

/** Updates the given fields only, so that concurrent changes of other fields are kept. */
export async function updateVersion(
  trx: Writer,
  id: string,
  { name, description, allowRestricted }: { [Field in keyof VersionFields]?: VersionFields[Field] | undefined },
  updatedAt: string,
): Promise<void> {
  await trx
    .updateTable('versions')
    .set({
      ...(name !== undefined && nameColumns(name)),
      ...(description !== undefined && { description }),
      ...(allowRestricted !== undefined && { allow_restricted: allowRestricted ? 1 : 0 }),
      updated_at: updatedAt,
    })
    .where('id', '=', id)
    .execute();
}

/** Locks files until the transaction ends, so that none is deleted concurrently. */
export async function lockFiles(trx: Writer, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await trx
    .updateTable('files')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('id', 'in', anyOf(ids))
    .execute();
}

export async function replaceVersionFiles(trx: Writer, versionId: string, fileIds: string[]): Promise<void> {
  await trx.deleteFrom('version_files').where('version_id', '=', versionId).execute();
  if (fileIds.length === 0) return;
  await trx
    .insertInto('version_files')
    .values(fileIds.map((fileId, position) => ({ version_id: versionId, file_id: fileId, position })))
    .execute();
}

/** Sets the status. Returns false if the version is closed and the caller may not reopen it. */
export async function updateStatus(
  trx: Writer,
  id: string,
  status: ReviewStatus,
  mayReopen: boolean,
  updatedAt: string,
): Promise<boolean> {
  const result = await trx
    .updateTable('versions')
    .set({ status, updated_at: updatedAt })
    .where('id', '=', id)
    .$if(!mayReopen && status !== 'CLOSED', (versions) => versions.where('status', '!=', 'CLOSED'))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}
