import type { Database } from '../db/schema.ts';

export interface StoredCredential {
  id: string;
  workspaceId: string;
  userId: string;
  scopes: string[];
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
}

export async function findCredential(db: Database, hash: string): Promise<StoredCredential | undefined> {
  const row = await db
    .selectFrom('api_keys as key')
    // Somebody who has left the workspace has lost its keys too.
    .innerJoin('workspace_members as membership', (join) =>
      join.onRef('membership.workspace_id', '=', 'key.workspace_id').onRef('membership.user_id', '=', 'key.user_id'),
    )
    .select([
      'key.id',
      'key.workspace_id',
      'key.user_id',
      'key.scopes',
      'key.expires_at',
      'key.revoked_at',
      'key.last_used_at',
    ])
    .where('key.hash', '=', hash)
    .executeTakeFirst();
  return (
    row && {
      id: row.id,
      workspaceId: row.workspace_id,
      userId: row.user_id,
      scopes: row.scopes.split(' ').filter(Boolean),
      expiresAt: row.expires_at,
      revokedAt: row.revoked_at,
      lastUsedAt: row.last_used_at,
    }
  );
}

export async function recordUse(db: Database, id: string, at: string): Promise<void> {
  await db.updateTable('api_keys').set({ last_used_at: at }).where('id', '=', id).execute();
}

export interface NewCredential {
  id: string;
  workspaceId: string;
  userId: string;
  hash: string;
  hint: string;
  scopes: readonly string[];
  expiresAt: string | null;
  createdAt: string;
}

export async function insertCredential(db: Database, key: NewCredential): Promise<void> {
  await db
    .insertInto('api_keys')
    .values({
      id: key.id,
      workspace_id: key.workspaceId,
      user_id: key.userId,
      hash: key.hash,
      hint: key.hint,
      scopes: key.scopes.join(' '),
      created_at: key.createdAt,
      expires_at: key.expiresAt,
    })
    .execute();
}

export async function revokeCredential(db: Database, id: string, at: string): Promise<boolean> {
  const result = await db
    .updateTable('api_keys')
    .set((eb) => ({ revoked_at: eb.fn.coalesce('revoked_at', eb.val(at)) }))
    .where('id', '=', id)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function listCredentials(db: Database, workspaceId: string | undefined) {
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
    .orderBy('key.created_at')
    .orderBy('key.id')
    .execute();
}
