import type { ProjectRole } from '@review/contract';
import { type Selectable, sql } from 'kysely';
import { type CursorPage, type PageRequest, takePage } from '../../db/cursor.ts';
import { containing, fold } from '../../db/fold.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { scheduleProjectBlobDeletion } from '../uploads/queries.ts';
import { lockProject, type Viewer } from '../visibility.ts';

export interface VisibleProject {
  id: string;
  projectId: string;
  role: ProjectRole;
  name: string;
  description: string | null;
  deadline: string | null;
  createdAt: string;
  updatedAt: string;
  deletes_at: string | null;
}

type Row = Selectable<Schema['projects']> & { role: ProjectRole };

const record = (row: Row): VisibleProject => ({
  id: row.id,
  projectId: row.id,
  role: row.role,
  name: row.name,
  description: row.description,
  deadline: row.deadline,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  deletes_at: row.deletes_at,
});

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
  const row = await visibleProjects(db, viewer).where('project.id', '=', id).executeTakeFirst();
  return row && record(row);
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
  const rows = await takePage(
    query,
    { sort: `project.${column}`, id: 'project.id' },
    (row) => [row[column], row.id],
    page,
  );
  return { ...rows, items: rows.items.map(record) };
}

interface ProjectFields {
  name: string;
  description: string | null;
  deadline: string | null;
}

const folded = ({ name, description }: ProjectFields) => ({
  folded_name: fold(name),
  // The separator occurs in no text, so that a keyword cannot match across the two fields.
  folded_text: fold(`${name}\uffff${description ?? ''}`),
});

export async function insertProject(
  trx: Writer,
  project: ProjectFields & { id: string; workspaceId: string; createdAt: string },
): Promise<void> {
  const { id, workspaceId, name, description, deadline, createdAt } = project;
  await trx
    .insertInto('projects')
    .values({
      id,
      workspace_id: workspaceId,
      name,
      description,
      deadline,
      ...folded(project),
      created_at: createdAt,
      updated_at: createdAt,
    })
    .execute();
}

type ProjectChanges = { [Field in keyof ProjectFields]?: ProjectFields[Field] | undefined };

export async function updateProject(
  trx: Writer,
  id: string,
  changes: ProjectChanges,
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
