import type { ProjectRole } from '@review/contract';
import type { Database, Writer } from '../db/schema.ts';

/** A restricted reviewer sees only files and versions with `allowRestricted`, without their prompts and attachments. */
export const isRestricted = (role: ProjectRole): boolean => role === 'PROJECT_RESTRICTED_REVIEWER';

export type Viewer = { workspaceId: string; userId: string };

/** The viewer's role in the project of a record, and the time of the project's deletion if it is scheduled. */
export interface Membership {
  role: ProjectRole;
  deletes_at: string | null;
}

/** Whether a file or version is hidden from the role. */
export const isHidden = ({ role, allow_restricted: allowed }: { role: ProjectRole; allow_restricted: number }) =>
  isRestricted(role) && allowed !== 1;

/** The projects that the viewer is a member of, to join with other tables. */
export const memberships = (db: Database, viewer: Viewer) =>
  db
    .selectFrom('project_members as membership')
    .innerJoin('projects as project', 'project.id', 'membership.project_id')
    .where('membership.user_id', '=', viewer.userId)
    .where('project.workspace_id', '=', viewer.workspaceId)
    .select(['project.id as project_id', 'membership.role', 'project.deletes_at']);

/** Serialises structural changes of a project. The update locks the row on both databases. */
export async function lockProject(trx: Writer, id: string): Promise<void> {
  await trx
    .updateTable('projects')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('id', '=', id)
    .execute();
}
