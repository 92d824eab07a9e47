import { newUuid } from '../db/ids.ts';
import type { Writer } from '../db/schema.ts';

interface Removed {
  /** Projects that the person was a member of. */
  projects: number;
  /** API keys that are revoked now. */
  keys: number;
}

/** Projects of the workspace that the person alone owns, locked until the transaction ends like all they belong to. */
export async function lockSolelyOwned(
  trx: Writer,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<{ id: string; name: string }[]> {
  // Two owners who are removed at once must not leave none.
  await trx
    .updateTable('projects')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', (eb) => eb.selectFrom('project_members').select('project_id').where('user_id', '=', userId))
    .execute();
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

/** Makes the user an owner of each project, as a new member or in place of an earlier role. */
export async function makeOwner(trx: Writer, userId: string, projectIds: string[], at: string): Promise<void> {
  for (const projectId of projectIds) {
    await trx
      .insertInto('project_members')
      .values({ id: newUuid(), project_id: projectId, user_id: userId, role: 'PROJECT_OWNER', created_at: at })
      .onConflict((conflict) => conflict.columns(['project_id', 'user_id']).doUpdateSet({ role: 'PROJECT_OWNER' }))
      .execute();
  }
}

/**
 * Takes a person out of a workspace and its projects, and revokes their API keys there. The account stays, and so do its
 * comments and files; access links that exist by now do not bring the person back.
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
  const projects = await trx
    .deleteFrom('project_members')
    .where('user_id', '=', userId)
    .where('project_id', 'in', (eb) => eb.selectFrom('projects').select('id').where('workspace_id', '=', workspaceId))
    .executeTakeFirst();
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
  return { projects: Number(projects.numDeletedRows), keys: Number(keys.numUpdatedRows) };
}
