import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { fold } from '../../db/fold.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { preparedSearch, wholeTable } from '../../db/search.ts';
import { scheduleProjectRenditionDeletion } from '../media/renditions.ts';
import { scheduleProjectBlobDeletion } from '../uploads/queries.ts';
import { lockProject, type Membership, type Viewer } from '../visibility.ts';

/** What a response shows of a project. */
const COLUMNS = ['id', 'name', 'description', 'deadline', 'created_at', 'updated_at', 'deletes_at'] as const;

export type VisibleProject = Pick<Selectable<Schema['projects']>, (typeof COLUMNS)[number]> & Membership;

const visibleProjects = (db: Database, viewer: Params<Viewer>, source = wholeTable('projects')) =>
  db
    .selectFrom(source)
    // SQLite keeps the order of a cross join: a person may be a member of far more projects than the source has.
    .crossJoin('project_members as membership')
    .whereRef('membership.project_id', '=', 'projects.id')
    .where('membership.user_id', '=', viewer.userId)
    .where('projects.workspace_id', '=', viewer.workspaceId)
    .select(COLUMNS.map((column) => `projects.${column}` as const))
    .select('membership.role');

export const findVisibleProject = prepared.lookUp((db, { id, ...viewer }: Params<Viewer & { id: string }>) =>
  visibleProjects(db, viewer).where('projects.id', '=', id),
);

const SORT_COLUMNS = { name: 'folded_name', createdAt: 'created_at', updatedAt: 'updated_at' } as const;

export const listProjects = preparedSearch(
  'projects',
  (db, viewer: Params<Viewer>, _: { sort: keyof typeof SORT_COLUMNS }, source) =>
    visibleProjects(db, viewer, source).select('projects.folded_name'),
  ({ sort }) => SORT_COLUMNS[sort],
  ({ workspaceId }) => workspaceId,
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
      await scheduleProjectRenditionDeletion(trx, id, now);
      await trx.deleteFrom('projects').where('id', '=', id).execute();
    }
    return due.length;
  });
}

/** Returns the projects that `deleteDueProjects` would delete, with the number and the size of their files. */
export async function listDueProjects(db: Database, now: string) {
  return db
    .selectFrom('projects as project')
    .leftJoin('files as file', 'file.project_id', 'project.id')
    .select(['project.id', 'project.name', 'project.deletes_at as deletesAt'])
    .select((eb) => [
      eb.fn.count<number>('file.id').as('files'),
      sql<number>`cast(coalesce(sum(file.size), 0) as bigint)`.as('bytes'),
    ])
    .where('project.deletes_at', '<=', now)
    .groupBy(['project.id', 'project.name', 'project.deletes_at'])
    .orderBy('project.deletes_at')
    .orderBy('project.id')
    .execute();
}
