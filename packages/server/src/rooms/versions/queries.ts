import type { Direction, ProjectRole, ReviewStatus } from '@review/contract';
import { PAGE_SIZE } from '@review/contract';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { preparedPages } from '../../db/cursor.ts';
import { fold } from '../../db/fold.ts';
import { locked } from '../../db/locked.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { isRestricted, liveFiles, memberships, RESTRICTED, type Viewer } from '../visibility.ts';

export type StoredVersion = Selectable<Schema['versions']>;

/** What a list of one project reads. */
const LISTED = ['id', 'name', 'description', 'status', 'created_at', 'updated_at'] as const;
export type ListedVersion = Pick<StoredVersion, (typeof LISTED)[number]>;

export const findVisibleVersion = prepared.lookUp((db, { id, ...viewer }: Params<Viewer & { id: string }>) =>
  db
    .selectFrom('versions as version')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'version.project_id')
    .selectAll('version')
    .select(['seen.role', 'seen.deletes_at'])
    .where('version.id', '=', id)
    .where((eb) => eb.or([eb('seen.role', '!=', RESTRICTED), eb('version.allow_restricted', '=', 1)])),
);

const SORT_COLUMNS = { name: 'folded_name', createdAt: 'created_at' } as const;

interface VersionOrder {
  restricted: boolean;
  sort: keyof typeof SORT_COLUMNS;
  direction: Direction;
}

/** Returns one numbered page and whether another follows. */
export const listVersions = prepared(
  (
    db,
    { projectId, page }: Params<{ projectId: string; page: number }>,
    { restricted, sort, direction }: VersionOrder,
  ) =>
    db
      .selectFrom('versions')
      .select(LISTED)
      .where('project_id', '=', projectId)
      .$if(restricted, (versions) => versions.where('allow_restricted', '=', 1))
      .orderBy(SORT_COLUMNS[sort], direction)
      .orderBy('id', direction)
      .limit(PAGE_SIZE + 1)
      .offset(page.map((number) => (number - 1) * PAGE_SIZE)),
  (rows) => ({ items: rows.slice(0, PAGE_SIZE), hasNext: rows.length > PAGE_SIZE }),
);

/** The versions with a status in the projects of the viewer. */
export const listVisibleVersions = preparedPages(
  'versions',
  (db, { userId, workspaceId, status }: Params<Viewer & { status: ReviewStatus }>, _: object) =>
    db
      .selectFrom('project_members as membership')
      .innerJoin('projects as project', 'project.id', 'membership.project_id')
      .innerJoin('versions', 'versions.project_id', 'project.id')
      .selectAll('versions')
      .select(['project.name as project_name', 'membership.role'])
      .select((eb) =>
        eb
          .selectFrom('version_files as held')
          .innerJoin(liveFiles(db).select(['id', 'allow_restricted']).as('file'), 'file.id', 'held.file_id')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .whereRef('held.version_id', '=', 'versions.id')
          .where((file) => file.or([file('membership.role', '!=', RESTRICTED), file('file.allow_restricted', '=', 1)]))
          .as('file_count'),
      )
      .where('membership.user_id', '=', userId)
      .where('project.workspace_id', '=', workspaceId)
      .where('project.deletes_at', 'is', null)
      .where('versions.status', '=', status)
      .where((eb) => eb.or([eb('membership.role', '!=', RESTRICTED), eb('versions.allow_restricted', '=', 1)])),
  () => 'created_at',
);

const listFiles = prepared(
  (db, versionId: Param<string>, restricted: boolean) =>
    db
      .selectFrom('version_files as held')
      .innerJoin(liveFiles(db).select(['id', 'allow_restricted']).as('file'), 'file.id', 'held.file_id')
      .select('file.id')
      .where('held.version_id', '=', versionId)
      .$if(restricted, (files) => files.where('file.allow_restricted', '=', 1))
      // A restored file may have the position of one that was added meanwhile.
      .orderBy('held.position')
      .orderBy('file.id'),
  (rows) => rows.map((row) => row.id),
);

/** Returns the files of a version that are visible to the role, in their order. */
export const listVersionFiles = (db: Database, versionId: string, role: ProjectRole) =>
  listFiles(db, versionId, isRestricted(role));

type NewVersion = Omit<Insertable<Schema['versions']>, 'folded_name' | 'status' | 'updated_at'>;

const insertRow = prepared.run((db, version: Params<Insertable<Schema['versions']>>) =>
  db.insertInto('versions').values(version),
);

export const insertVersion = (trx: Writer, version: NewVersion) =>
  insertRow(trx, {
    ...version,
    folded_name: fold(version.name),
    status: 'NEED_REVIEW',
    updated_at: version.created_at,
  });

type Changes = Updateable<Pick<Schema['versions'], 'name' | 'description' | 'allow_restricted'>>;

const updateRow = prepared.run((db, { id, ...changes }: Params<{ id: string } & Updateable<Schema['versions']>>) =>
  db.updateTable('versions').set(changes).where('id', '=', id),
);

/** Updates the given fields only, so that concurrent changes of other fields are kept. */
export const updateVersion = (trx: Writer, id: string, changes: Changes, updatedAt: string) => {
  const { name } = changes;
  return updateRow(trx, {
    id,
    ...changes,
    ...(name !== undefined && { folded_name: fold(name) }),
    updated_at: updatedAt,
  });
};

/** Locks files until the transaction ends, so that none is deleted concurrently. */
export const lockFiles = prepared.run((db, ids: Param<string[]>) =>
  locked(
    db,
    db
      .selectFrom('files')
      .select('id')
      .where('id', ...anyOf(db, ids))
      .orderBy('id'),
  ),
);

const deleteFiles = prepared.run((db, versionId: Param<string>) =>
  db
    .deleteFrom('version_files')
    .where('version_id', '=', versionId)
    .where(({ exists }) =>
      exists(liveFiles(db).select('id').whereRef('files.id', '=', sql.ref('version_files.file_id'))),
    ),
);

/** Replaces the files of a version except those in the trash, which return to it when they are restored. */
export async function replaceVersionFiles(trx: Writer, versionId: string, fileIds: string[]): Promise<void> {
  await deleteFiles(trx, versionId);
  if (fileIds.length === 0) return;
  await trx
    .insertInto('version_files')
    .values(fileIds.map((fileId, position) => ({ version_id: versionId, file_id: fileId, position })))
    .execute();
}

const setStatus = prepared.changed(
  (
    db,
    { id, status, updatedAt }: Params<{ id: string; status: ReviewStatus; updatedAt: string }>,
    unlessClosed: boolean,
  ) =>
    db
      .updateTable('versions')
      .set({ status, updated_at: updatedAt })
      .where('id', '=', id)
      .$if(unlessClosed, (versions) => versions.where('status', '!=', 'CLOSED')),
);

/** Sets the status. Returns false if the version is closed and the caller may not reopen it. */
export const updateStatus = (
  trx: Writer,
  id: string,
  status: ReviewStatus,
  mayReopen: boolean,
  updatedAt: string,
): Promise<boolean> => setStatus(trx, { id, status, updatedAt }, !mayReopen && status !== 'CLOSED');
