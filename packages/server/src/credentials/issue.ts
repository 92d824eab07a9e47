import type { Scope } from '@review/contract';
import { newUuid } from '../db/ids.ts';
import type { Database } from '../db/schema.ts';
import { now } from '../db/time.ts';
import { hashApiKey, newApiKey } from './api-key.ts';
import { insertCredential } from './queries.ts';

/** Creates a key for a member of a workspace. Stores only its hash, so that the key cannot be shown again. */
export async function issueKey(
  db: Database,
  holder: { workspaceId: string; userId: string; scopes: readonly Scope[]; expiresAt?: string | null },
): Promise<{ id: string; key: string }> {
  const id = newUuid();
  const key = newApiKey();
  await insertCredential(db, {
    id,
    workspace_id: holder.workspaceId,
    user_id: holder.userId,
    hash: hashApiKey(key),
    hint: key.slice(-4),
    scopes: holder.scopes.join(' '),
    expires_at: holder.expiresAt ?? null,
    created_at: now(),
  });
  return { id, key };
}
