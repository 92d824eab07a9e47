import { Scope } from '@review/contract';
import { hashApiKey, isApiKey } from '../credentials/api-key.ts';
import { findCredential, recordUse, type StoredCredential } from '../credentials/queries.ts';
import { now, secondsFromNow } from '../db/time.ts';
import type { Deps } from '../deps.ts';
import type { Caller } from '../request/caller.ts';
import { ProblemError } from '../request/problem.ts';
import { briefly } from './briefly.ts';
import { tokenHolders, UnknownHolder } from './token-holder.ts';

/** What a credential opens: the API, or the tools alone. Each has a description of its own by RFC 9728. */
export type Resource = '' | '/mcp';

export const metadataPath = (resource: Resource) => `/.well-known/oauth-protected-resource${resource}`;

/** Finds out who calls, from the Authorization header: by an API key of ours, or by an access token of the issuer. */
export function authenticator({ db, config, log }: Deps) {
  const credentials = briefly((hash: string) => findCredential(db, hash));
  const holders = config.oauth && tokenHolders({ db, log }, config.oauth);

  function noteUse(credential: StoredCredential): void {
    if (credential.lastUsedAt !== null && credential.lastUsedAt > secondsFromNow(-60)) return;
    credential.lastUsedAt = now();
    recordUse(db, credential.id, credential.lastUsedAt).catch((error: unknown) =>
      log.warn({ err: error }, 'the last use of a key was not recorded'),
    );
  }

  async function keyHolder(key: string): Promise<Caller> {
    const credential = await credentials(hashApiKey(key));
    if (credential === undefined || credential.revokedAt !== null) throw new UnknownHolder('INVALID_CREDENTIAL');
    if (credential.expiresAt !== null && credential.expiresAt <= secondsFromNow(0)) {
      throw new UnknownHolder('EXPIRED_CREDENTIAL');
    }
    noteUse(credential);
    return {
      credentialId: credential.id,
      userId: credential.userId,
      workspaceId: credential.workspaceId,
      scopes: new Set(credential.scopes.flatMap((scope) => Scope.safeParse(scope).data ?? [])),
    };
  }

  async function holder(authorization: string | undefined): Promise<Caller> {
    const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw new UnknownHolder('MISSING_CREDENTIAL');
    if (isApiKey(token)) return keyHolder(token);
    if (holders === null) throw new UnknownHolder('INVALID_CREDENTIAL');
    return holders(token);
  }

  return async (authorization: string | undefined, resource: Resource = ''): Promise<Caller> =>
    holder(authorization).catch((error: unknown) => {
      if (!(error instanceof UnknownHolder)) throw error;
      const challenge = `Bearer resource_metadata="${config.publicUrl}${metadataPath(resource)}"`;
      throw new ProblemError(error.code, {
        ...(error.message !== '' && { detail: error.message }),
        headers: {
          'WWW-Authenticate': error.code === 'MISSING_CREDENTIAL' ? challenge : `${challenge}, error="invalid_token"`,
        },
      });
    });
}
