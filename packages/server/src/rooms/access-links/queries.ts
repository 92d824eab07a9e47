import type { LinkRole, ProjectRole } from '@review/contract';
import { type Insertable, type Selectable, sql } from 'kysely';
import { preparedPages } from '../../db/cursor.ts';
import { locked } from '../../db/locked.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { memberships, type Viewer } from '../visibility.ts';

/** `link_role` is the role that the link grants; `role` is that of the caller. */
const COLUMNS = [
  'link.id',
  'link.project_id',
  'link.role as link_role',
  'link.description',
  'link.sealed_key',
  'link.created_at',
  'link.expires_at',
] as const;

export type StoredLink = Omit<Selectable<Schema['access_links']>, 'role' | 'key_hash'> & { link_role: LinkRole };

export const findVisibleAccessLink = prepared.lookUp((db, { id, ...viewer }: Params<Viewer & { id: string }>) =>
  db
    .selectFrom('access_links as link')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'link.project_id')
    .select(COLUMNS)
    .select(['seen.role', 'seen.deletes_at'])
    .where('link.id', '=', id),
);

export const listAccessLinks = preparedPages(
  'link',
  (db, { projectId }: Params<{ projectId: string }>) =>
    db.selectFrom('access_links as link').select(COLUMNS).where('project_id', '=', projectId),
  () => 'created_at',
);

export const insertAccessLink = prepared.run((db, link: Params<Insertable<Schema['access_links']>>) =>
  db.insertInto('access_links').values(link),
);

/** Returns up to 200 links whose hash has another prefix, ordered by id. */
export async function findLinksOfOtherSecrets(
  db: Database,
  prefix: string,
  afterId: string,
): Promise<{ id: string; sealed_key: string }[]> {
  return db
    .selectFrom('access_links')
    .select(['id', 'sealed_key'])
    .where('key_hash', 'not like', `${prefix}%`)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(200)
    .execute();
}

/** Updates hashes and sealed keys in one statement. Skips links that were deleted meanwhile. */
export async function updateLinkKeys(
  db: Database,
  links: Pick<Selectable<Schema['access_links']>, 'id' | 'key_hash' | 'sealed_key'>[],
): Promise<void> {
  if (links.length === 0) return;
  const byId = (column: 'key_hash' | 'sealed_key') =>
    sql<string>`case id ${sql.join(
      links.map((link) => sql`when ${link.id} then ${link[column]}`),
      sql` `,
    )} end`;
  await db
    .updateTable('access_links')
    .set({ key_hash: byId('key_hash'), sealed_key: byId('sealed_key') })
    .where(
      'id',
      'in',
      links.map(({ id }) => id),
    )
    .execute();
}

export const deleteAccessLink = prepared.run((db, id: Param<string>) =>
  db.deleteFrom('access_links').where('id', '=', id),
);

/** Finds and locks the unexpired link of a key in a workspace, so that a deleted link cannot be redeemed concurrently. */
export async function lockOpenLink(trx: Writer, workspaceId: string, keyHashes: string[], now: string) {
  const found = trx
    .selectFrom('access_links')
    .where('key_hash', 'in', keyHashes)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .where('project_id', 'in', (eb) => eb.selectFrom('projects').select('id').where('workspace_id', '=', workspaceId))
    .select((eb) => [
      'id',
      'project_id',
      'role as link_role',
      'created_at',
      eb
        .selectFrom('projects')
        .whereRef('projects.id', '=', 'access_links.project_id')
        .select('projects.deletes_at')
        .as('deletes_at'),
    ]);
  return locked(trx, found).executeTakeFirst();
}

/** Returns the person's membership of a project and the time of a lead's last decision about it; null if there is none. */
export const findMembership = prepared.one((db, { projectId, userId }: Params<{ projectId: string; userId: string }>) =>
  db
    .selectFrom('users as user')
    .leftJoin('project_members as member', (join) =>
      join.onRef('member.user_id', '=', 'user.id').on('member.project_id', '=', projectId),
    )
    .leftJoin('member_decisions as decision', (join) =>
      join.onRef('decision.user_id', '=', 'user.id').on('decision.project_id', '=', projectId),
    )
    .select(['member.id as member_id', 'member.role', 'decision.decided_at'])
    .where('user.id', '=', userId),
);

/** Makes the user a member, or raises the role if it is one of `raised`. Atomic, because it is one statement. */
export async function grantRole(
  trx: Writer,
  member: Insertable<Schema['project_members']>,
  raised: readonly ProjectRole[],
): Promise<string> {
  await trx
    .insertInto('project_members')
    .values(member)
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'user_id'])
        .doUpdateSet({ role: member.role })
        .where('project_members.role', 'in', [...raised]),
    )
    .execute();
  const granted = await trx
    .selectFrom('project_members')
    .select('id')
    .where('project_id', '=', member.project_id)
    .where('user_id', '=', member.user_id)
    .executeTakeFirstOrThrow();
  return granted.id;
}
