import type { ProjectRole } from '@review/contract';
import { locked } from '../db/locked.ts';
import { type Param, type Params, prepared } from '../db/prepared.ts';
import type { Database } from '../db/schema.ts';

/** A restricted reviewer sees only files and versions with `allowRestricted`, without their prompts and attachments. */
export const RESTRICTED = 'PROJECT_RESTRICTED_REVIEWER' satisfies ProjectRole;

export const isRestricted = (role: ProjectRole): boolean => role === RESTRICTED;

export type Viewer = { workspaceId: string; userId: string };

/** The viewer's role in the project of a record, and the time of the project's deletion if it is scheduled. */
export interface Membership {
  role: ProjectRole;
  deletes_at: string | null;
}

/** The projects that the viewer is a member of, to join with other tables. */
export const memberships = (db: Database, viewer: Params<Viewer>) =>
  db
    .selectFrom('project_members as membership')
    .innerJoin('projects as project', 'project.id', 'membership.project_id')
    .where('membership.user_id', '=', viewer.userId)
    .where('project.workspace_id', '=', viewer.workspaceId)
    .select(['project.id as project_id', 'membership.role', 'project.deletes_at']);

/** The files that are not in the trash. */
export const liveFiles = (db: Database) => db.selectFrom('files').where('files.trashed_at', 'is', null);

/** Serialises structural changes of a project. */
export const lockProject = prepared.run((db, id: Param<string>) =>
  locked(db, db.selectFrom('projects').select('id').where('id', '=', id)),
);
