import { createHash } from 'node:crypto';
import type { OAuthSettings } from '../config/config.ts';
import { accessTokens, TokenRefused } from '../credentials/access-token.ts';
import { IssuerUnreachable } from '../credentials/issuer-keys.ts';
import { findLinkedUser, linkNewSubject } from '../credentials/queries.ts';
import { now } from '../db/time.ts';
import type { Deps } from '../deps.ts';
import type { Caller } from '../request/caller.ts';
import { ProblemError } from '../request/problem.ts';
import { briefly } from './briefly.ts';

/** Nobody is known by that credential. */
export class UnknownHolder extends Error {
  override name = 'UnknownHolder';
  readonly code: 'MISSING_CREDENTIAL' | 'INVALID_CREDENTIAL' | 'EXPIRED_CREDENTIAL';

  constructor(code: UnknownHolder['code'], detail = '') {
    super(detail);
    this.code = code;
  }
}

/**
 * The person who holds an access token. The subject of the token decides; only a subject that is seen for the first time is
 * linked to an account, by an e-mail that the issuer has verified.
 */
export function tokenHolders({ db, log }: Pick<Deps, 'db' | 'log'>, settings: OAuthSettings) {
  const { issuer } = settings;
  const readToken = accessTokens(settings);
  const users = briefly(async (key: string) => {
    const [subject = '', workspaceId = '', email = ''] = key.split('\n');
    const linked = await findLinkedUser(db, { issuer, subject }, workspaceId);
    if (linked !== undefined || email === '') return linked;
    await linkNewSubject(db, { issuer, subject }, email, now());
    return findLinkedUser(db, { issuer, subject }, workspaceId);
  });

  return async (text: string): Promise<Caller> => {
    const token = await readToken(text).catch((error: unknown) => {
      if (error instanceof TokenRefused) {
        throw new UnknownHolder(error.expired ? 'EXPIRED_CREDENTIAL' : 'INVALID_CREDENTIAL', error.message);
      }
      if (!(error instanceof IssuerUnreachable)) throw error;
      log.warn({ err: error, cause: String(error.cause) }, 'an access token could not be checked');
      throw new ProblemError('NOT_READY', {
        detail: 'The token cannot be checked now: its issuer does not answer.',
        headers: { 'Retry-After': '1' },
      });
    });
    const { subject, client, workspaceId, scopes, email } = token;
    const user = await users([subject, workspaceId, email ?? ''].join('\n'));
    if (user === undefined) {
      throw new UnknownHolder(
        'INVALID_CREDENTIAL',
        'No account here is linked to the subject of the token, and none has an e-mail that the token shows as verified.',
      );
    }
    if (!user.member) {
      throw new UnknownHolder('INVALID_CREDENTIAL', 'The account is no member of the workspace that the token names.');
    }
    // Not of the token itself: a program whose token was renewed is still the same caller.
    const credential = createHash('sha256').update([issuer, subject, client, workspaceId].join('\n'));
    return { credentialId: credential.digest('hex'), userId: user.userId, workspaceId, scopes };
  };
}
