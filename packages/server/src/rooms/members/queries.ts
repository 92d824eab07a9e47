import type { ProjectRole } from '@review/contract';
import type { Insertable, NotNull, Selectable } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { type Membership, memberships, type Viewer } from '../visibility.ts';

type Member = Selectable<Schema['project_members']>;

/** `role` is the role of the caller, not of the member. */
export type VisibleMember = Pick<Member, 'id' | 'project_id'> & Membership;

export const findVisibleMember = prepared.lookUp((db, { id, ...viewer }: Params<Viewer & { id: string }>) =>
  db
    .selectFrom('project_members as member')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'member.project_id')
    .where('member.id', '=', id)
    .select(['member.id', 'member.project_id', 'seen.role', 'seen.deletes_at']),
);

/** All users. Their display name and avatar in the workspace, if they belong to it, override those of the account. */
export const users = (db: Database, workspaceId: Param<string>) =>
  db
    .selectFrom('users as user')
    .leftJoin('workspace_members as person', (join) =>
      join.onRef('person.user_id', '=', 'user.id').on('person.workspace_id', '=', workspaceId),
    )
    .select((eb) => [
      eb.fn.coalesce('person.display_name', 'user.name').as('name'),
      eb.fn.coalesce('person.avatar_url', 'user.avatar_url').as('avatar_url'),
    ]);

const people = (db: Database, workspaceId: Param<string>) =>
  users(db, workspaceId).select(['user.id as user_id', 'user.email']).where('person.workspace_id', '=', workspaceId);

export const listProjectMembers = prepared.all(
  (db, { workspaceId, projectId }: Params<{ workspaceId: string; projectId: string }>) =>
    people(db, workspaceId)
      .innerJoin('project_members as member', 'member.user_id', 'user.id')
      .where('member.project_id', '=', projectId)
      .select(['member.id', 'member.role'])
      .orderBy('member.created_at')
      .orderBy('member.id'),
);

export const listWorkspaceMembers = prepared.all((db, workspaceId: Param<string>) =>
  people(db, workspaceId)
    .select('person.id')
    .$narrowType<{ id: NotNull }>()
    .orderBy('person.created_at')
    .orderBy('person.id'),
);

/** Returns those users that belong to the workspace. */
export const findWorkspaceUsers = prepared(
  (db, { workspaceId, userIds }: Params<{ workspaceId: string; userIds: string[] }>) =>
    db
      .selectFrom('workspace_members')
      .select('user_id')
      .where('workspace_id', '=', workspaceId)
      .where('user_id', ...anyOf(db, userIds)),
  (rows) => new Set(rows.map((row) => row.user_id)),
);

const findNamed = prepared.all((db, { workspaceId, userIds }: Params<{ workspaceId: string; userIds: string[] }>) =>
  users(db, workspaceId)
    .select('user.id')
    .where('person.workspace_id', '=', workspaceId)
    .where('user.id', ...anyOf(db, userIds)),
);

/** Returns the names of those users who belong to the workspace. */
export const findWorkspacePeople = async (db: Database, asked: { workspaceId: string; userIds: string[] }) =>
  asked.userIds.length === 0 ? [] : findNamed(db, asked);

export type NewMember = Insertable<Schema['project_members']>;

/** Adds members. Returns false if one of them was a member already. */
export async function insertMembers(trx: Writer, members: NewMember[]): Promise<boolean> {
  if (members.length === 0) return true;
  const result = await trx
    .insertInto('project_members')
    .values(members)
    .onConflict((conflict) => conflict.columns(['project_id', 'user_id']).doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === BigInt(members.length);
}

export const findMember = prepared.first((db, id: Param<string>) =>
  db.selectFrom('project_members').selectAll().where('id', '=', id),
);

const findOwners = prepared.all((db, projectId: Param<string>) =>
  db
    .selectFrom('project_members')
    .select('id')
    .where('project_id', '=', projectId)
    .where('role', '=', 'PROJECT_OWNER')
    .limit(2),
);

export async function isLastOwner(db: Database, projectId: string, id: string): Promise<boolean> {
  const owners = await findOwners(db, projectId);
  return owners.length === 1 && owners[0]?.id === id;
}

export const updateRole = prepared.run((db, { id, role }: Params<{ id: string; role: ProjectRole }>) =>
  db.updateTable('project_members').set({ role }).where('id', '=', id),
);

export const deleteMember = prepared.run((db, id: Param<string>) =>
  db.deleteFrom('project_members').where('id', '=', id),
);

/** Records a lead's decision about these people, so that existing access links do not apply to them. */
export async function recordDecisions(trx: Writer, projectId: string, userIds: string[], at: string): Promise<void> {
  if (userIds.length === 0) return;
  await trx
    .insertInto('member_decisions')
    .values(userIds.map((userId) => ({ project_id: projectId, user_id: userId, decided_at: at })))
    .onConflict((conflict) => conflict.columns(['project_id', 'user_id']).doUpdateSet({ decided_at: at }))
    .execute();
}
