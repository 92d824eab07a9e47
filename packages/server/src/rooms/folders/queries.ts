import type { ProjectRole } from '@review/contract';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { isRestricted, liveFiles, type Membership, memberships, type Viewer } from '../visibility.ts';

type StoredFolder = Selectable<Schema['folders']>;

const findFolder = prepared.lookUp((db, { id, ...viewer }: Params<Viewer & { id: string }>) =>
  db
    .selectFrom('folders as folder')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'folder.project_id')
    .selectAll('folder')
    .select(['seen.role', 'seen.deletes_at'])
    .where('folder.id', '=', id),
);

export async function findVisibleFolder(
  db: Database,
  found: Viewer & { id: string },
): Promise<(StoredFolder & Membership) | undefined> {
  const folder = await findFolder(db, found);
  if (folder === undefined || !isRestricted(folder.role)) return folder;
  return (await isVisibleFolder(db, { id: folder.project_id, role: folder.role }, found.id)) ? folder : undefined;
}

interface Project {
  id: string;
  role: ProjectRole;
}

/** The folders visible to the role. A restricted reviewer sees those with a visible file, and their ancestors. */
export const visibleFolders = (db: Database, projectId: Param<string>, restricted: boolean) =>
  db
    .selectFrom('folders')
    .where('project_id', '=', projectId)
    .$if(restricted, (folders) =>
      folders.where(sql<boolean>`id in (
        with recursive shown(id, parent_id) as (
          select folder.id, folder.parent_id from folders as folder
          join files as file on file.folder_id = folder.id
          where file.project_id = ${projectId} and file.allow_restricted = 1 and file.trashed_at is null
          union
          select folder.id, folder.parent_id from folders as folder join shown on folder.id = shown.parent_id
        )
        select id from shown)`),
    );

const listVisible = prepared.all((db, projectId: Param<string>, restricted: boolean) =>
  visibleFolders(db, projectId, restricted).selectAll().orderBy('created_at').orderBy('id'),
);

export const listFolders = (db: Database, { id, role }: Project) => listVisible(db, id, isRestricted(role));

const isVisible = prepared.exists(
  (db, { projectId, id }: Params<{ projectId: string; id: string }>, restricted: boolean) =>
    visibleFolders(db, projectId, restricted).select('id').where('id', '=', id),
);

export const isVisibleFolder = (db: Database, project: Project, id: string) =>
  isVisible(db, { projectId: project.id, id }, isRestricted(project.role));

export const isFolderOf = prepared.exists((db, { projectId, id }: Params<{ projectId: string; id: string }>) =>
  db.selectFrom('folders').select('id').where('id', '=', id).where('project_id', '=', projectId),
);

export const insertFolder = prepared.run((db, folder: Params<Insertable<Schema['folders']>>) =>
  db.insertInto('folders').values(folder),
);

/** Whether `id` is `ancestorId` or a descendant of it. */
export const isInside = prepared.exists(
  (_, { id, ancestorId }: Params<{ id: string; ancestorId: string }>) => sql<{ id: string }>`
    with recursive above(id, parent_id) as (
      select id, parent_id from folders where id = ${id}
      union
      select folder.id, folder.parent_id from folders as folder join above on folder.id = above.parent_id
    )
    select id from above where id = ${ancestorId}`,
);

type Changes = Updateable<Pick<Schema['folders'], 'name' | 'parent_id'>>;

const updateRow = prepared.run((db, { id, ...changes }: Params<{ id: string } & Changes>) =>
  db.updateTable('folders').set(changes).where('id', '=', id),
);

/** Updates the given fields only, so that a rename does not undo a concurrent move. */
export async function updateFolder(trx: Writer, id: string, changes: Changes): Promise<void> {
  if (changes.name === undefined && changes.parent_id === undefined) return;
  await updateRow(trx, { id, ...changes });
}

const hasFolder = prepared.exists((db, id: Param<string>) =>
  db.selectFrom('folders').select('id').where('parent_id', '=', id).limit(1),
);

const hasFile = prepared.exists((db, id: Param<string>) =>
  liveFiles(db).select('id').where('folder_id', '=', id).limit(1),
);

export const isEmpty = async (db: Database, id: string): Promise<boolean> =>
  !(await hasFolder(db, id)) && !(await hasFile(db, id));

const moveFilesToRoot = prepared.run((db, id: Param<string>) =>
  db.updateTable('files').set({ folder_id: null }).where('folder_id', '=', id),
);

const deleteRow = prepared.run((db, id: Param<string>) => db.deleteFrom('folders').where('id', '=', id));

/** Deletes an empty folder. Its files in the trash will be restored to the root of the project. */
export async function deleteFolder(trx: Writer, id: string): Promise<void> {
  await moveFilesToRoot(trx, id);
  await deleteRow(trx, id);
}
