import { LinkRole, type ProjectRole } from '@review/contract';
import { type Selectable, sql } from 'kysely';
import { type CursorPage, type PageRequest, takePage } from '../../db/cursor.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { memberships, type Viewer } from '../visibility.ts';

export interface StoredLink {
  id: string;
  linkRole: LinkRole;
  description: string | null;
  sealedKey: string;
  createdAt: string;
  expiresAt: string | null;
}

interface VisibleAccessLink extends StoredLink {
  projectId: string;
  /** The role of the caller, not the one that the link grants. */
  role: ProjectRole;
  deletes_at: string | null;
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
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'link.project_id')
    .where('link.id', '=', id)
    .selectAll('link')
    .select(['seen.role as callerRole', 'seen.deletes_at'])
    .executeTakeFirst();
  return row && { ...record(row), projectId: row.project_id, role: row.callerRole, deletes_at: row.deletes_at };
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

/** Returns up to 200 links whose hash has another prefix, ordered by id. */
export async function findLinksOfOtherSecrets(
  db: Database,
  prefix: string,
  afterId: string,
): Promise<{ id: string; sealedKey: string }[]> {
  return db
    .selectFrom('access_links')
    .select(['id', 'sealed_key as sealedKey'])
    .where('key_hash', 'not like', `${prefix}%`)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(200)
    .execute();
}

/** Updates hashes and sealed keys in one statement. Skips links that were deleted meanwhile. */
export async function updateLinkKeys(
  db: Database,
  links: { id: string; keyHash: string; sealedKey: string }[],
): Promise<void> {
  if (links.length === 0) return;
  const byId = (field: 'keyHash' | 'sealedKey') =>
    sql<string>`case id ${sql.join(
      links.map((link) => sql`when ${link.id} then ${link[field]}`),
      sql` `,
    )} end`;
  await db
    .updateTable('access_links')
    .set({ key_hash: byId('keyHash'), sealed_key: byId('sealedKey') })
    .where(
      'id',
      'in',
      links.map(({ id }) => id),
    )
    .execute();
}

export async function deleteAccessLink(trx: Writer, id: string): Promise<void> {
  await trx.deleteFrom('access_links').where('id', '=', id).execute();
}

/**
 * Finds and locks the unexpired link of a key in a workspace. The update locks the row on both databases, so that a deleted
 * link cannot be redeemed concurrently.
 */
export async function lockOpenLink(trx: Writer, workspaceId: string, keyHashes: string[], now: string) {
  return trx
    .updateTable('access_links')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('key_hash', 'in', keyHashes)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .where('project_id', 'in', (eb) => eb.selectFrom('projects').select('id').where('workspace_id', '=', workspaceId))
    .returning((eb) => [
      'project_id as projectId',
      'role as linkRole',
      'created_at as createdAt',
      eb
        .selectFrom('projects')
        .whereRef('projects.id', '=', 'access_links.project_id')
        .select('projects.deletes_at')
        .as('deletesAt'),
    ])
    .executeTakeFirst();
}

/** Returns the person's membership of a project and the time of a lead's last decision about it; null if there is none. */
export async function findMembership(db: Database, projectId: string, userId: string) {
  return db
    .selectFrom('users as user')
    .leftJoin('project_members as member', (join) =>
      join.onRef('member.user_id', '=', 'user.id').on('member.project_id', '=', projectId),
    )
    .leftJoin('member_decisions as decision', (join) =>
      join.onRef('decision.user_id', '=', 'user.id').on('decision.project_id', '=', projectId),
    )
    .select(['member.id as memberId', 'decision.decided_at as decidedAt'])
    .where('user.id', '=', userId)
    .executeTakeFirstOrThrow();
}

/** Makes the user a member, or raises the role if it is one of `raised`. Atomic, because it is one statement. */
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
