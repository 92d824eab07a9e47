import type { ProjectRole } from '@review/contract';
import type { Insertable, Selectable } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { type Membership, memberships, type Viewer } from '../visibility.ts';

type Member = Selectable<Schema['project_members']>;

/** `role` is the role of the caller, not of the member. */
export type VisibleMember = Pick<Member, 'id' | 'project_id'> & Membership;

export async function findVisibleMember(db: Database, viewer: Viewer, id: string): Promise<VisibleMember | undefined> {
  return db
    .selectFrom('project_members as member')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'member.project_id')
    .where('member.id', '=', id)
    .select(['member.id', 'member.project_id', 'seen.role', 'seen.deletes_at'])
    .executeTakeFirst();
}

/** The people of a workspace. Their display name and avatar in the workspace override those of the account. */
const people = (db: Database, workspaceId: string) =>
  db
    .selectFrom('workspace_members as person')
    .innerJoin('users as user', 'user.id', 'person.user_id')
    .where('person.workspace_id', '=', workspaceId)
    .select((eb) => [
      'user.id as user_id',
      'user.email',
      eb.fn.coalesce('person.display_name', 'user.name').as('name'),
      eb.fn.coalesce('person.avatar_url', 'user.avatar_url').as('avatar_url'),
    ]);

export async function listProjectMembers(db: Database, workspaceId: string, projectId: string) {
  return people(db, workspaceId)
    .innerJoin('project_members as member', 'member.user_id', 'user.id')
    .where('member.project_id', '=', projectId)
    .select(['member.id', 'member.role'])
    .orderBy('member.created_at')
    .orderBy('member.id')
    .execute();
}

export async function listWorkspaceMembers(db: Database, workspaceId: string) {
  return people(db, workspaceId).select('person.id').orderBy('person.created_at').orderBy('person.id').execute();
}

/** Returns those users that belong to the workspace. */
export async function findWorkspaceUsers(db: Database, workspaceId: string, userIds: string[]): Promise<Set<string>> {
  if (userIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('workspace_members')
    .select('user_id')
    .where('workspace_id', '=', workspaceId)
    .where('user_id', 'in', anyOf(userIds))
    .execute();
  return new Set(rows.map((row) => row.user_id));
}

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

export async function findMember(db: Database, id: string): Promise<Member | undefined> {
  return db.selectFrom('project_members').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function isLastOwner(db: Database, projectId: string, id: string): Promise<boolean> {
  const owners = await db
    .selectFrom('project_members')
    .select('id')
    .where('project_id', '=', projectId)
    .where('role', '=', 'PROJECT_OWNER')
    .limit(2)
    .execute();
  return owners.length === 1 && owners[0]?.id === id;
}

export async function updateRole(trx: Writer, id: string, role: ProjectRole): Promise<void> {
  await trx.updateTable('project_members').set({ role }).where('id', '=', id).execute();
}

export async function deleteMember(trx: Writer, id: string): Promise<void> {
  await trx.deleteFrom('project_members').where('id', '=', id).execute();
}

/** Records a lead's decision about these people, so that existing access links do not apply to them. */
export async function recordDecisions(trx: Writer, projectId: string, userIds: string[], at: string): Promise<void> {
  if (userIds.length === 0) return;
  await trx
    .insertInto('member_decisions')
    .values(userIds.map((userId) => ({ project_id: projectId, user_id: userId, decided_at: at })))
    .onConflict((conflict) => conflict.columns(['project_id', 'user_id']).doUpdateSet({ decided_at: at }))
    .execute();
}
