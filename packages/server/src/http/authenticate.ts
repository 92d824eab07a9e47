import { SCOPES, type Scope } from '@review/contract';
import { hashApiKey, hasKeyPrefix, isApiKey } from '../credentials/api-key.ts';
import { findCredentials, recordUse, type StoredCredential } from '../credentials/queries.ts';
import { now, secondsFromNow } from '../db/time.ts';
import type { Deps } from '../deps.ts';
import type { Caller } from '../request/caller.ts';
import { ProblemError } from '../request/problem.ts';
import { CredentialRefused, tokenResolver } from './token-holder.ts';
import { ttlCache } from './ttl-cache.ts';

/** The protected resource of a request: the API or the MCP endpoint. Each has its own metadata document (RFC 9728). */
export type Resource = '' | '/mcp';

export const metadataPath = (resource: Resource) => `/.well-known/oauth-protected-resource${resource}`;

/** Returns a function that resolves the caller from the Authorization header: an API key or an OAuth access token. */
export function authenticator({ db, config, log }: Deps) {
  const credentials = ttlCache(async (hashes) => {
    const valid = (await findCredentials(db, hashes)).filter((credential) => credential.revoked_at === null);
    // Once per look-up instead of per request: a minute does not need to be more exact than the cache.
    for (const credential of valid) if (!isExpired(credential)) recordLastUse(credential);
    return new Map(valid.map((credential) => [credential.hash, { credential, caller: callerOf(credential) }]));
  });
  const resolveToken = config.oauth && tokenResolver({ db, log }, config.oauth);

  function recordLastUse(credential: StoredCredential): void {
    if (credential.last_used_at !== null && credential.last_used_at > secondsFromNow(-60)) return;
    recordUse(db, { id: credential.id, at: now() }).catch((error: unknown) =>
      log.warn({ err: error, keyId: credential.id }, 'API key: the time of its last use was not recorded'),
    );
  }

  /** Returns undefined if the token is no API key. A cached one has been checked. */
  function findKey(token: string) {
    if (!hasKeyPrefix(token)) return undefined;
    const hash = hashApiKey(token);
    return credentials.cached(hash) ?? (isApiKey(token) ? credentials.find(hash) : undefined);
  }

  async function resolveKey(finding: NonNullable<ReturnType<typeof findKey>>): Promise<Caller> {
    const found = await finding;
    if (found === undefined) throw new CredentialRefused('INVALID_CREDENTIAL');
    if (isExpired(found.credential)) throw new CredentialRefused('EXPIRED_CREDENTIAL');
    return found.caller;
  }

  function resolveCaller(authorization: string | undefined): Promise<Caller> {
    const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw new CredentialRefused('MISSING_CREDENTIAL');
    const key = findKey(token);
    if (key !== undefined) return resolveKey(key);
    if (resolveToken === null) throw new CredentialRefused('INVALID_CREDENTIAL');
    return resolveToken(token);
  }

  return async (authorization: string | undefined, resource: Resource = ''): Promise<Caller> => {
    try {
      return await resolveCaller(authorization);
    } catch (error) {
      if (!(error instanceof CredentialRefused)) throw error;
      const challenge = `Bearer resource_metadata="${config.publicUrl}${metadataPath(resource)}"`;
      throw new ProblemError(error.code, {
        ...(error.message !== '' && { detail: error.message }),
        headers: {
          'WWW-Authenticate': error.code === 'MISSING_CREDENTIAL' ? challenge : `${challenge}, error="invalid_token"`,
        },
      });
    }
  };
}

const KNOWN_SCOPES: ReadonlySet<string> = new Set(SCOPES);
const isScope = (text: string): text is Scope => KNOWN_SCOPES.has(text);

const isExpired = ({ expires_at: expiresAt }: StoredCredential): boolean =>
  expiresAt !== null && expiresAt <= secondsFromNow(0);

const callerOf = (credential: StoredCredential): Caller => ({
  credentialId: credential.id,
  userId: credential.user_id,
  workspaceId: credential.workspace_id,
  scopes: new Set(credential.scopes.split(' ').filter(isScope)),
});
