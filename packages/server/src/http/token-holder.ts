import { hash } from 'node:crypto';
import type { OAuthSettings } from '../config/config.ts';
import { accessTokens, TokenRefused } from '../credentials/access-token.ts';
import { IssuerUnreachable } from '../credentials/issuer-keys.ts';
import { findLinkedUsers, linkNewSubject } from '../credentials/queries.ts';
import { now } from '../db/time.ts';
import type { Deps } from '../deps.ts';
import type { Caller } from '../request/caller.ts';
import { ProblemError } from '../request/problem.ts';
import { ttlCache } from './ttl-cache.ts';

/** The credential identifies no account. */
export class CredentialRefused extends Error {
  override name = 'CredentialRefused';
  readonly code: 'MISSING_CREDENTIAL' | 'INVALID_CREDENTIAL' | 'EXPIRED_CREDENTIAL';

  constructor(code: CredentialRefused['code'], detail = '') {
    super(detail);
    this.code = code;
  }
}

/**
 * Returns a function that resolves the caller of an access token from the token's subject. A subject without a linked
 * account is linked by its e-mail address, if the issuer has verified it.
 */
export function tokenResolver({ db, log }: Pick<Deps, 'db' | 'log'>, settings: OAuthSettings) {
  const { issuer } = settings;
  const readToken = accessTokens(settings);
  /** Linked accounts and their workspaces, by subject and verified e-mail address. */
  const accounts = ttlCache(async (keys) => {
    const holders = keys.map((key) => {
      const [subject = '', email = ''] = key.split('\n');
      return { key, subject, email };
    });
    const find = async () => Map.groupBy(await findLinkedUsers(db, { issuer, subjects }), ({ subject }) => subject);
    const subjects = holders.map(({ subject }) => subject);
    let linked = await find();
    const unlinked = holders.filter(({ subject, email }) => email !== '' && !linked.has(subject));
    for (const { subject, email } of unlinked) await linkNewSubject(db, { issuer, subject }, email, now());
    if (unlinked.length > 0) linked = await find();
    return new Map(holders.map(({ key, subject }) => [key, linked.get(subject)]));
  });

  return async (text: string): Promise<Caller> => {
    const token = await readToken(text).catch((error: unknown) => {
      if (error instanceof TokenRefused) {
        throw new CredentialRefused(error.expired ? 'EXPIRED_CREDENTIAL' : 'INVALID_CREDENTIAL', error.message);
      }
      if (!(error instanceof IssuerUnreachable)) throw error;
      log.warn({ err: error, cause: String(error.cause) }, 'access token not verified: its issuer does not answer');
      throw new ProblemError('NOT_READY', {
        detail: 'The access token cannot be verified now, because its issuer does not answer. Retry later.',
        headers: { 'Retry-After': '1' },
      });
    });
    const { subject, client, workspaceId, scopes, email } = token;
    const rows = await accounts.find([subject, email ?? ''].join('\n'));
    const [account] = rows ?? [];
    if (account === undefined) {
      throw new CredentialRefused(
        'INVALID_CREDENTIAL',
        'No account is linked to the subject of the token, and the token has no verified e-mail address of an account.',
      );
    }
    if (!rows?.some((row) => row.workspace_id === workspaceId)) {
      throw new CredentialRefused(
        'INVALID_CREDENTIAL',
        'The account is not a member of the workspace that the token names.',
      );
    }
    // The token itself is not part of the id: a client with a renewed token is still the same caller.
    const credentialId = hash('sha256', [issuer, subject, client, workspaceId].join('\n'));
    return { credentialId, userId: account.user_id, workspaceId, scopes };
  };
}
