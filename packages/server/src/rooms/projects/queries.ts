import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { type CursorPage, type PageRequest, takePage } from '../../db/cursor.ts';
import { containing, fold } from '../../db/fold.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { scheduleProjectBlobDeletion } from '../uploads/queries.ts';
import { lockProject, type Membership, type Viewer } from '../visibility.ts';

export type VisibleProject = Selectable<Schema['projects']> & Membership;

const visibleProjects = (db: Database, viewer: Viewer) =>
  db
    .selectFrom('projects as project')
    .innerJoin('project_members as membership', 'membership.project_id', 'project.id')
    .where('membership.user_id', '=', viewer.userId)
    .where('project.workspace_id', '=', viewer.workspaceId)
    .selectAll('project')
    .select('membership.role');

export async function findVisibleProject(
  db: Database,
  viewer: Viewer,
  id: string,
): Promise<VisibleProject | undefined> {
  return visibleProjects(db, viewer).where('project.id', '=', id).executeTakeFirst();
}

const SORT_COLUMNS = { name: 'folded_name', createdAt: 'created_at', updatedAt: 'updated_at' } as const;
type ProjectSort = keyof typeof SORT_COLUMNS;

export async function listProjects(
  db: Database,
  viewer: Viewer,
  sort: ProjectSort,
  keyword: string | undefined,
  page: PageRequest,
): Promise<CursorPage<VisibleProject>> {
  const column = SORT_COLUMNS[sort];
  const query = visibleProjects(db, viewer).$if(keyword !== undefined, (projects) =>
    projects.where(sql<boolean>`project.folded_text like ${containing(keyword ?? '')} escape '\\'`),
  );
  return takePage(query, { sort: `project.${column}`, id: 'project.id' }, (row) => [row[column], row.id], page);
}

const folded = ({ name, description }: Pick<NewProject, 'name' | 'description'>) => ({
  folded_name: fold(name),
  // The separator occurs in no text, so that a keyword cannot match across the two fields.
  folded_text: fold(`${name}\uffff${description ?? ''}`),
});

type NewProject = Omit<Insertable<Schema['projects']>, 'folded_name' | 'folded_text' | 'updated_at'>;

export async function insertProject(trx: Writer, project: NewProject): Promise<void> {
  await trx
    .insertInto('projects')
    .values({ ...project, ...folded(project), updated_at: project.created_at })
    .execute();
}

export async function updateProject(
  trx: Writer,
  id: string,
  changes: Updateable<Pick<Schema['projects'], 'name' | 'description' | 'deadline'>>,
  updatedAt: string,
): Promise<void> {
  // Read under the lock, so that a concurrent change of other fields is not overwritten.
  await lockProject(trx, id);
  const current = await trx
    .selectFrom('projects')
    .select(['name', 'description', 'deadline'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (current === undefined) return;
  const { name = current.name, description = current.description, deadline = current.deadline } = changes;
  const fields = { name, description, deadline };
  await trx
    .updateTable('projects')
    .set({ ...fields, ...folded(fields), updated_at: updatedAt })
    .where('id', '=', id)
    .execute();
}

export async function setDeletion(trx: Writer, id: string, deletesAt: string | null): Promise<void> {
  await trx.updateTable('projects').set({ deletes_at: deletesAt }).where('id', '=', id).execute();
}

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
