import type { Selectable } from 'kysely';
import { newUuid } from '../db/ids.ts';
import { locked } from '../db/locked.ts';
import type { Schema, Writer } from '../db/schema.ts';

type Member = Pick<Selectable<Schema['project_members']>, 'id' | 'project_id'>;

interface Removed {
  /** The memberships that ended. */
  members: Member[];
  /** API keys that were revoked. */
  keys: number;
}

/** Returns the projects whose only owner is the person. Locks all projects of the person until the transaction ends. */
export async function lockSolelyOwned(
  trx: Writer,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<{ id: string; name: string }[]> {
  // The lock prevents that two owners are removed concurrently and none is left.
  const ofPerson = trx
    .selectFrom('projects')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', (eb) => eb.selectFrom('project_members').select('project_id').where('user_id', '=', userId))
    .orderBy('id');
  await locked(trx, ofPerson).execute();
  return trx
    .selectFrom('project_members as owner')
    .innerJoin('projects as project', 'project.id', 'owner.project_id')
    .select(['project.id', 'project.name'])
    .where('owner.user_id', '=', userId)
    .where('owner.role', '=', 'PROJECT_OWNER')
    .where('project.workspace_id', '=', workspaceId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('project_members as other')
            .select('other.id')
            .whereRef('other.project_id', '=', 'project.id')
            .where('other.role', '=', 'PROJECT_OWNER')
            .where('other.user_id', '!=', userId),
        ),
      ),
    )
    .orderBy('project.name')
    .orderBy('project.id')
    .execute();
}

/** Makes the user an owner of each project, as a new member or by a change of role. */
export async function makeOwner(
  trx: Writer,
  userId: string,
  projectIds: string[],
  at: string,
): Promise<(Member & { isNew: boolean })[]> {
  const owners: (Member & { isNew: boolean })[] = [];
  for (const projectId of projectIds) {
    const id = newUuid();
    const owner = await trx
      .insertInto('project_members')
      .values({ id, project_id: projectId, user_id: userId, role: 'PROJECT_OWNER', created_at: at })
      .onConflict((conflict) => conflict.columns(['project_id', 'user_id']).doUpdateSet({ role: 'PROJECT_OWNER' }))
      .returning(['id', 'project_id'])
      .executeTakeFirstOrThrow();
    owners.push({ ...owner, isNew: owner.id === id });
  }
  return owners;
}

/**
 * Removes a person from a workspace and its projects, and revokes their API keys there. Keeps the account, its comments and
 * its files. Existing access links do not restore the membership.
 */
export async function removeFromWorkspace(
  trx: Writer,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  at: string,
): Promise<Removed> {
  await trx
    .insertInto('member_decisions')
    .columns(['project_id', 'user_id', 'decided_at'])
    .expression((eb) =>
      eb
        .selectFrom('project_members as member')
        .innerJoin('projects as project', 'project.id', 'member.project_id')
        .select(['member.project_id', 'member.user_id', eb.val(at).as('decided_at')])
        .where('member.user_id', '=', userId)
        .where('project.workspace_id', '=', workspaceId),
    )
    .onConflict((conflict) => conflict.columns(['project_id', 'user_id']).doUpdateSet({ decided_at: at }))
    .execute();
  const members = await trx
    .deleteFrom('project_members')
    .where('user_id', '=', userId)
    .where('project_id', 'in', (eb) => eb.selectFrom('projects').select('id').where('workspace_id', '=', workspaceId))
    .returning(['id', 'project_id'])
    .execute();
  const keys = await trx
    .updateTable('api_keys')
    .set({ revoked_at: at })
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  await trx
    .deleteFrom('workspace_members')
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .execute();
  return { members, keys: Number(keys.numUpdatedRows) };
}
