import { newUuid } from '../db/ids.ts';
import type { Database, Writer } from '../db/schema.ts';
import { now } from '../db/time.ts';
import { canonicalEmail } from './email.ts';

export async function insertWorkspace(db: Database, name: string, avatarUrl: string | null = null): Promise<string> {
  const id = newUuid();
  await db.insertInto('workspaces').values({ id, name, avatar_url: avatarUrl, created_at: now() }).execute();
  return id;
}

export async function findWorkspaceByName(db: Database, name: string): Promise<string | undefined> {
  const row = await db.selectFrom('workspaces').select('id').where('name', '=', name).orderBy('id').executeTakeFirst();
  return row?.id;
}

export interface NewPerson {
  workspaceId: string;
  email: string;
  name: string;
  displayName?: string | null;
  avatarUrl?: string | null;
}

/**
 * Adds a person to the workspace and returns the id of the account. Creates the account if the e-mail has none. An existing
 * account does not change: a given display name or avatar then applies to the workspace only.
 */
export async function joinWorkspace(trx: Writer, person: NewPerson): Promise<string> {
  const email = canonicalEmail(person.email);
  if (email === undefined)
    throw new Error('The e-mail address is not valid: it may contain visible ASCII characters only.');
  const avatarUrl = person.avatarUrl ?? null;
  const made = await trx
    .insertInto('users')
    .values({ id: newUuid(), email, name: person.name, avatar_url: avatarUrl, created_at: now() })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .executeTakeFirst();
  const existed = made.numInsertedOrUpdatedRows === 0n;
  const { id } = await trx.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow();
  await trx
    .insertInto('workspace_members')
    .values({
      id: newUuid(),
      workspace_id: person.workspaceId,
      user_id: id,
      display_name: person.displayName ?? null,
      avatar_url: existed ? avatarUrl : null,
      created_at: now(),
    })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'user_id']).doUpdateSet((eb) => ({
        display_name: eb.fn.coalesce('excluded.display_name', 'workspace_members.display_name'),
        avatar_url: eb.fn.coalesce('excluded.avatar_url', 'workspace_members.avatar_url'),
      })),
    )
    .execute();
  return id;
}

export async function findUser(db: Database, email: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', canonicalEmail(email) ?? '')
    .executeTakeFirst();
  return row?.id;
}

/** Finds a member of the workspace by id or e-mail. */
export async function findMember(db: Database, workspaceId: string, user: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('workspace_members as membership')
    .innerJoin('users as user', 'user.id', 'membership.user_id')
    .select('user.id')
    .where('membership.workspace_id', '=', workspaceId)
    .where((eb) => eb.or([eb('user.id', '=', user), eb('user.email', '=', canonicalEmail(user) ?? '')]))
    .executeTakeFirst();
  return row?.id;
}

export async function listWorkspaces(db: Database) {
  return db
    .selectFrom('workspaces as workspace')
    .leftJoin('workspace_members as membership', 'membership.workspace_id', 'workspace.id')
    .select((eb) => [
      'workspace.id',
      'workspace.name',
      eb.fn.count<number>('membership.id').as('people'),
      'workspace.created_at as createdAt',
    ])
    .groupBy(['workspace.id', 'workspace.name', 'workspace.created_at'])
    .orderBy('workspace.created_at')
    .orderBy('workspace.id')
    .execute();
}

/** Lists accounts once per workspace: those of one workspace, or all, including accounts without a workspace. */
export async function listPeople(db: Database, workspaceId: string | undefined) {
  return db
    .selectFrom('users as user')
    .leftJoin('workspace_members as membership', 'membership.user_id', 'user.id')
    .select([
      'user.id',
      'user.email',
      'user.name',
      'membership.display_name as displayName',
      'membership.workspace_id as workspaceId',
      'membership.created_at as joinedAt',
    ])
    .$if(workspaceId !== undefined, (people) => people.where('membership.workspace_id', '=', workspaceId ?? ''))
    .orderBy('user.email')
    .orderBy('membership.workspace_id')
    .execute();
}
