import { Scope } from '@review/contract';
import { hashApiKey, isApiKey } from '../credentials/api-key.ts';
import { findCredential, recordUse, type StoredCredential } from '../credentials/queries.ts';
import { now, secondsFromNow } from '../db/time.ts';
import type { Deps } from '../deps.ts';
import { ProblemError } from './problem.ts';

export interface Caller {
  credentialId: string;
  userId: string;
  workspaceId: string;
  scopes: ReadonlySet<Scope>;
}

/** A revoked key stops working within a second, on every process: what is remembered is shorter than that. */
const REMEMBERED_MS = 500;
const REMEMBERED_KEYS = 10_000;

/** Finds out who calls, from the Authorization header. */
export function authenticator({ db, config, log }: Deps) {
  const remembered = new Map<string, { credential: Promise<StoredCredential | undefined>; until: number }>();
  const challenge = `Bearer resource_metadata="${config.publicUrl}/.well-known/oauth-protected-resource"`;
  const refusal = (code: 'MISSING_CREDENTIAL' | 'INVALID_CREDENTIAL' | 'EXPIRED_CREDENTIAL') =>
    new ProblemError(code, {
      headers: {
        'WWW-Authenticate': code === 'MISSING_CREDENTIAL' ? challenge : `${challenge}, error="invalid_token"`,
      },
    });

  function lookUp(hash: string): Promise<StoredCredential | undefined> {
    const known = remembered.get(hash);
    if (known && known.until > performance.now()) return known.credential;
    if (remembered.size >= REMEMBERED_KEYS) remembered.clear();
    const credential = findCredential(db, hash);
    remembered.set(hash, { credential, until: performance.now() + REMEMBERED_MS });
    // A database that was down for a moment must not be remembered as an answer.
    credential.catch(() => remembered.delete(hash));
    return credential;
  }

  function noteUse(credential: StoredCredential): void {
    if (credential.lastUsedAt !== null && credential.lastUsedAt > secondsFromNow(-60)) return;
    credential.lastUsedAt = now();
    recordUse(db, credential.id, credential.lastUsedAt).catch((error: unknown) =>
      log.warn({ err: error }, 'the last use of a key was not recorded'),
    );
  }

  return async (authorization: string | undefined): Promise<Caller> => {
    const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw refusal('MISSING_CREDENTIAL');
    if (!isApiKey(token)) throw refusal('INVALID_CREDENTIAL');
    const credential = await lookUp(hashApiKey(token));
    if (credential === undefined || credential.revokedAt !== null) throw refusal('INVALID_CREDENTIAL');
    if (credential.expiresAt !== null && credential.expiresAt <= secondsFromNow(0)) throw refusal('EXPIRED_CREDENTIAL');
    noteUse(credential);
    return {
      credentialId: credential.id,
      userId: credential.userId,
      workspaceId: credential.workspaceId,
      scopes: new Set(credential.scopes.flatMap((scope) => Scope.safeParse(scope).data ?? [])),
    };
  };
}
