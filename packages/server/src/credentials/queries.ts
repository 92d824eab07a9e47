import type { Insertable, Selectable } from 'kysely';
import { anyOf } from '../db/any-of.ts';
import { type Param, type Params, prepared } from '../db/prepared.ts';
import type { Database, Schema, Writer } from '../db/schema.ts';

export type StoredCredential = Selectable<Schema['api_keys']>;

export const findCredentials = prepared.all((db, hashes: Param<string[]>) =>
  db
    .selectFrom('api_keys as key')
    // The keys of a person who has left the workspace are not valid.
    .innerJoin('workspace_members as membership', (join) =>
      join.onRef('membership.workspace_id', '=', 'key.workspace_id').onRef('membership.user_id', '=', 'key.user_id'),
    )
    .selectAll('key')
    .where('key.hash', ...anyOf(db, hashes)),
);

export const recordUse = prepared.run((db, { id, at }: Params<{ id: string; at: string }>) =>
  db.updateTable('api_keys').set({ last_used_at: at }).where('id', '=', id),
);

export async function insertCredential(db: Database, key: Insertable<Schema['api_keys']>): Promise<void> {
  await db.insertInto('api_keys').values(key).execute();
}

/** Revokes a key and returns its workspace; undefined if there is no such key. */
export async function revokeCredential(db: Database, id: string, at: string): Promise<string | undefined> {
  const revoked = await db
    .updateTable('api_keys')
    .set((eb) => ({ revoked_at: eb.fn.coalesce('revoked_at', eb.val(at)) }))
    .where('id', '=', id)
    .returning('workspace_id')
    .executeTakeFirst();
  return revoked?.workspace_id;
}

interface KeyFilter {
  workspaceId?: string | undefined;
  userId?: string | undefined;
}

export async function listCredentials(db: Database, { workspaceId, userId }: KeyFilter) {
  return db
    .selectFrom('api_keys as key')
    .innerJoin('users as user', 'user.id', 'key.user_id')
    .select([
      'key.id',
      'key.workspace_id as workspaceId',
      'user.email',
      'key.hint',
      'key.scopes',
      'key.created_at as createdAt',
      'key.expires_at as expiresAt',
      'key.last_used_at as lastUsedAt',
      'key.revoked_at as revokedAt',
    ])
    .$if(workspaceId !== undefined, (query) => query.where('key.workspace_id', '=', workspaceId ?? ''))
    .$if(userId !== undefined, (query) => query.where('key.user_id', '=', userId ?? ''))
    .orderBy('key.created_at')
    .orderBy('key.id')
    .execute();
}

interface Subject {
  issuer: string;
  subject: string;
}

/** Finds the accounts that the subjects are linked to: a row for each workspace of the account, or one without a workspace. */
export const findLinkedUsers = prepared.all(
  (db, { issuer, subjects }: Params<{ issuer: string; subjects: string[] }>) =>
    db
      .selectFrom('oauth_subjects as linked')
      .leftJoin('workspace_members as membership', 'membership.user_id', 'linked.user_id')
      .select(['linked.subject', 'linked.user_id', 'membership.workspace_id'])
      .where('linked.issuer', '=', issuer)
      .where('linked.subject', ...anyOf(db, subjects)),
);

/** Links the subject to the account of that e-mail, unless one of them is linked already. */
export async function linkNewSubject(db: Database, { issuer, subject }: Subject, email: string, at: string) {
  await db
    .insertInto('oauth_subjects')
    .columns(['issuer', 'subject', 'user_id', 'created_at'])
    .expression((eb) =>
      eb
        .selectFrom('users')
        .select([eb.val(issuer).as('issuer'), eb.val(subject).as('subject'), 'id', eb.val(at).as('created_at')])
        .where('email', '=', email),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Links the subject to the account and removes earlier links of both. */
export async function relinkSubject(trx: Writer, { issuer, subject }: Subject, userId: string, at: string) {
  await trx
    .deleteFrom('oauth_subjects')
    .where('issuer', '=', issuer)
    .where((eb) => eb.or([eb('subject', '=', subject), eb('user_id', '=', userId)]))
    .execute();
  await trx.insertInto('oauth_subjects').values({ issuer, subject, user_id: userId, created_at: at }).execute();
}
