import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { preparedPages } from '../../db/cursor.ts';
import { containing, fold } from '../../db/fold.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { scheduleProjectBlobDeletion } from '../uploads/queries.ts';
import { lockProject, type Membership, type Viewer } from '../visibility.ts';

export type VisibleProject = Selectable<Schema['projects']> & Membership;

const visibleProjects = (db: Database, viewer: Params<Viewer>) =>
  db
    .selectFrom('projects as project')
    .innerJoin('project_members as membership', 'membership.project_id', 'project.id')
    .where('membership.user_id', '=', viewer.userId)
    .where('project.workspace_id', '=', viewer.workspaceId)
    .selectAll('project')
    .select('membership.role');

export const findVisibleProject = prepared.first((db, { id, ...viewer }: Params<Viewer & { id: string }>) =>
  visibleProjects(db, viewer).where('project.id', '=', id),
);

const SORT_COLUMNS = { name: 'folded_name', createdAt: 'created_at', updatedAt: 'updated_at' } as const;

export const listProjects = preparedPages(
  'project',
  (db, { keyword, ...viewer }: Params<Viewer & { keyword?: string }>, _: { sort: keyof typeof SORT_COLUMNS }) => {
    const projects = visibleProjects(db, viewer);
    if (keyword === undefined) return projects;
    return projects.where(sql<boolean>`project.folded_text like ${keyword.map(containing)} escape '\\'`);
  },
  ({ sort }) => SORT_COLUMNS[sort],
);

const folded = ({ name, description }: Pick<NewProject, 'name' | 'description'>) => ({
  folded_name: fold(name),
  // The separator occurs in no text, so that a keyword cannot match across the two fields.
  folded_text: fold(`${name}\uffff${description ?? ''}`),
});

type NewProject = Omit<Insertable<Schema['projects']>, 'folded_name' | 'folded_text' | 'updated_at'>;

const insertRow = prepared.run((db, project: Params<Insertable<Schema['projects']>>) =>
  db.insertInto('projects').values(project),
);

export const insertProject = (trx: Writer, project: NewProject) =>
  insertRow(trx, { ...project, ...folded(project), updated_at: project.created_at });

const findFields = prepared.first((db, id: Param<string>) =>
  db.selectFrom('projects').select(['name', 'description', 'deadline']).where('id', '=', id),
);

const updateRow = prepared.run((db, { id, ...changes }: Params<{ id: string } & Updateable<Schema['projects']>>) =>
  db.updateTable('projects').set(changes).where('id', '=', id),
);

export async function updateProject(
  trx: Writer,
  id: string,
  changes: Updateable<Pick<Schema['projects'], 'name' | 'description' | 'deadline'>>,
  updatedAt: string,
): Promise<void> {
  // Read under the lock, so that a concurrent change of other fields is not overwritten.
  await lockProject(trx, id);
  const current = await findFields(trx, id);
  if (current === undefined) return;
  const { name = current.name, description = current.description, deadline = current.deadline } = changes;
  const fields = { name, description, deadline };
  await updateRow(trx, { id, ...fields, ...folded(fields), updated_at: updatedAt });
}

export const setDeletion = (trx: Writer, id: string, deletesAt: string | null) =>
  updateRow(trx, { id, deletes_at: deletesAt });

/** Deletes the projects whose deletion is due with their content, and schedules the deletion of their blobs. */
export async function deleteDueProjects(db: Database, now: string): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const due = await trx.selectFrom('projects').select('id').where('deletes_at', '<=', now).execute();
    for (const { id } of due) {
      await scheduleProjectBlobDeletion(trx, id, now);
      await trx.deleteFrom('projects').where('id', '=', id).execute();
    }
    return due.length;
  });
}
