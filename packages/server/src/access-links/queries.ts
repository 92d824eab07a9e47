import { LinkRole, type ProjectRole } from '@review/contract';
import type { Selectable } from 'kysely';
import { type CursorPage, type PageRequest, takePage } from '../db/cursor.ts';
import type { Database, Schema, Writer } from '../db/schema.ts';
import { memberships, type Viewer } from '../projects/queries.ts';

export interface StoredLink {
  id: string;
  linkRole: LinkRole;
  description: string | null;
  sealedKey: string;
  createdAt: string;
  expiresAt: string | null;
}

export interface VisibleAccessLink extends StoredLink {
  projectId: string;
  /** The role of the caller, not the one that the link grants. */
  role: ProjectRole;
  deletesAt: string | null;
}

const record = (row: Selectable<Schema['access_links']>): StoredLink => ({
  id: row.id,
  linkRole: LinkRole.parse(row.role),
  description: row.description,
  sealedKey: row.sealed_key,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});

export async function findVisibleAccessLink(
  db: Database,
  viewer: Viewer,
  id: string,
): Promise<VisibleAccessLink | undefined> {
  const row = await db
    .selectFrom('access_links as link')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.projectId', 'link.project_id')
    .where('link.id', '=', id)
    .selectAll('link')
    .select(['seen.role as callerRole', 'seen.deletesAt'])
    .executeTakeFirst();
  return row && { ...record(row), projectId: row.project_id, role: row.callerRole, deletesAt: row.deletesAt };
}

export async function listAccessLinks(
  db: Database,
  projectId: string,
  page: PageRequest,
): Promise<CursorPage<StoredLink>> {
  const links = db.selectFrom('access_links').selectAll().where('project_id', '=', projectId);
  const rows = await takePage(links, { sort: 'created_at', id: 'id' }, (row) => [row.created_at, row.id], page);
  return { ...rows, items: rows.items.map(record) };
}

export async function insertAccessLink(
  trx: Writer,
  link: StoredLink & { projectId: string; keyHash: string },
): Promise<void> {
  await trx
    .insertInto('access_links')
    .values({
      id: link.id,
      project_id: link.projectId,
      role: link.linkRole,
      description: link.description,
      key_hash: link.keyHash,
      sealed_key: link.sealedKey,
      created_at: link.createdAt,
      expires_at: link.expiresAt,
    })
    .execute();
}

export async function deleteAccessLink(trx: Writer, id: string): Promise<void> {
  await trx.deleteFrom('access_links').where('id', '=', id).execute();
}

/**
 * The link that a key opens for the people of a workspace. The update locks it on both databases: once its deletion is
 * answered, nobody gets in by it any more.
 */
export async function lockOpenLink(trx: Writer, workspaceId: string, keyHash: string, now: string) {
  return trx
    .updateTable('access_links')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('key_hash', '=', keyHash)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .where('project_id', 'in', (eb) => eb.selectFrom('projects').select('id').where('workspace_id', '=', workspaceId))
    .returning((eb) => [
      'project_id as projectId',
      'role as linkRole',
      eb
        .selectFrom('projects')
        .whereRef('projects.id', '=', 'access_links.project_id')
        .select('projects.deletes_at')
        .as('deletesAt'),
    ])
    .executeTakeFirst();
}

/** Makes the user a member, or raises one of the weaker roles, in one statement: nothing comes between look and change. */
export async function grantRole(
  trx: Writer,
  member: { id: string; projectId: string; userId: string; role: ProjectRole; createdAt: string },
  raised: readonly ProjectRole[],
): Promise<string> {
  const { id, projectId, userId, role, createdAt } = member;
  await trx
    .insertInto('project_members')
    .values({ id, project_id: projectId, user_id: userId, role, created_at: createdAt })
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'user_id'])
        .doUpdateSet({ role })
        .where('project_members.role', 'in', [...raised]),
    )
    .execute();
  const granted = await trx
    .selectFrom('project_members')
    .select('id')
    .where('project_id', '=', projectId)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return granted.id;
}
