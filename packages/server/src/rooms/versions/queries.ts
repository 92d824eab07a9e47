import type { Direction, ProjectRole, ReviewStatus } from '@review/contract';
import { PAGE_SIZE } from '@review/contract';
import type { Insertable, Selectable, Updateable } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { fold } from '../../db/fold.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { isHidden, isRestricted, type Membership, memberships, type Viewer } from '../visibility.ts';

export type StoredVersion = Selectable<Schema['versions']>;

type VisibleVersion = StoredVersion & Membership;

export async function findVisibleVersion(
  db: Database,
  viewer: Viewer,
  id: string,
): Promise<VisibleVersion | undefined> {
  const version = await db
    .selectFrom('versions as version')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'version.project_id')
    .selectAll('version')
    .select(['seen.role', 'seen.deletes_at'])
    .where('version.id', '=', id)
    .executeTakeFirst();
  return version && isHidden(version) ? undefined : version;
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
  return { items: rows.slice(0, PAGE_SIZE), hasNext: rows.length > PAGE_SIZE };
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

type NewVersion = Omit<Insertable<Schema['versions']>, 'folded_name' | 'status' | 'updated_at'>;

export async function insertVersion(trx: Writer, version: NewVersion): Promise<void> {
  await trx
    .insertInto('versions')
    .values({ ...version, folded_name: fold(version.name), status: 'NEED_REVIEW', updated_at: version.created_at })
    .execute();
}

/** Updates the given fields only, so that concurrent changes of other fields are kept. */
export async function updateVersion(
  trx: Writer,
  id: string,
  changes: Updateable<Pick<Schema['versions'], 'name' | 'description' | 'allow_restricted'>>,
  updatedAt: string,
): Promise<void> {
  const { name } = changes;
  await trx
    .updateTable('versions')
    .set({ ...changes, ...(name !== undefined && { folded_name: fold(name) }), updated_at: updatedAt })
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
