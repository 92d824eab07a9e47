import type { ProjectRole } from '@review/contract';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { isRestricted, type Membership, memberships, type Viewer } from '../visibility.ts';

type StoredFolder = Selectable<Schema['folders']>;

export async function findVisibleFolder(
  db: Database,
  viewer: Viewer,
  id: string,
): Promise<(StoredFolder & Membership) | undefined> {
  const folder = await db
    .selectFrom('folders as folder')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'folder.project_id')
    .selectAll('folder')
    .select(['seen.role', 'seen.deletes_at'])
    .where('folder.id', '=', id)
    .executeTakeFirst();
  if (folder === undefined || !isRestricted(folder.role)) return folder;
  return (await isVisibleFolder(db, { id: folder.project_id, role: folder.role }, id)) ? folder : undefined;
}

interface Project {
  id: string;
  role: ProjectRole;
}

/** The folders visible to the role. A restricted reviewer sees those with a visible file, and their ancestors. */
const visibleFolders = (db: Database, { id, role }: Project) =>
  db
    .selectFrom('folders')
    .where('project_id', '=', id)
    .$if(isRestricted(role), (folders) =>
      folders.where(sql<boolean>`id in (
        with recursive shown(id, parent_id) as (
          select folder.id, folder.parent_id from folders as folder
          join files as file on file.folder_id = folder.id
          where file.project_id = ${id} and file.allow_restricted = 1
          union
          select folder.id, folder.parent_id from folders as folder join shown on folder.id = shown.parent_id
        )
        select id from shown)`),
    );

export async function listFolders(db: Database, project: Project): Promise<StoredFolder[]> {
  return visibleFolders(db, project).selectAll().orderBy('created_at').orderBy('id').execute();
}

export async function isVisibleFolder(db: Database, project: Project, id: string): Promise<boolean> {
  return (await visibleFolders(db, project).select('id').where('id', '=', id).executeTakeFirst()) !== undefined;
}

export async function isFolderOf(db: Database, projectId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('folders')
    .select('id')
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return row !== undefined;
}

export async function insertFolder(trx: Writer, folder: Insertable<Schema['folders']>): Promise<void> {
  await trx.insertInto('folders').values(folder).execute();
}

/** Whether `id` is `ancestorId` or a descendant of it. */
export async function isInside(db: Database, id: string, ancestorId: string): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    with recursive above(id, parent_id) as (
      select id, parent_id from folders where id = ${id}
      union
      select folder.id, folder.parent_id from folders as folder join above on folder.id = above.parent_id
    )
    select id from above where id = ${ancestorId}`.execute(db);
  return rows.length > 0;
}

/** Updates the given fields only, so that a rename does not undo a concurrent move. */
export async function updateFolder(
  trx: Writer,
  id: string,
  changes: Updateable<Pick<Schema['folders'], 'name' | 'parent_id'>>,
): Promise<void> {
  if (changes.name === undefined && changes.parent_id === undefined) return;
  await trx.updateTable('folders').set(changes).where('id', '=', id).execute();
}

export async function isEmpty(db: Database, id: string): Promise<boolean> {
  const folder = await db.selectFrom('folders').select('id').where('parent_id', '=', id).limit(1).executeTakeFirst();
  const file = await db.selectFrom('files').select('id').where('folder_id', '=', id).limit(1).executeTakeFirst();
  return folder === undefined && file === undefined;
}

export async function deleteFolder(trx: Writer, id: string): Promise<void> {
  await trx.deleteFrom('folders').where('id', '=', id).execute();
}
