import { hash } from 'node:crypto';
import { Scope, Uuid } from '@review/contract';
import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import { canonicalEmail } from '../accounts/email.ts';
import type { OAuthSettings } from '../config/config.ts';
import { issuerKeys } from './issuer-keys.ts';

/** The verified claims of an access token. */
interface AccessToken {
  subject: string;
  /** The OAuth client that the token was issued to. */
  client: string;
  workspaceId: string;
  scopes: ReadonlySet<Scope>;
  /** Null unless the issuer has verified the address and an account can have it. */
  email: string | null;
  expiresAtMs: number;
}

export class TokenRefused extends Error {
  override name = 'TokenRefused';
  readonly expired: boolean;

  constructor(message: string, expired = false) {
    super(message);
    this.expired = expired;
  }
}

/** Asymmetric signatures only. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const LEEWAY_SECONDS = 10;
const MAX_CACHED_TOKENS = 10_000;

/** The same as the TTL of the issuer's keys, so that tokens of a withdrawn key stop working. */
const TTL_MS = 10 * 60_000;

/** Returns a function that verifies access tokens of the issuer. Caches valid tokens, because verification is expensive. */
export function accessTokens(settings: OAuthSettings): (token: string) => Promise<AccessToken> {
  const keys = issuerKeys(settings);
  const cache = new Map<string, { read: AccessToken; expiresAtMs: number }>();

  async function verify(token: string): Promise<AccessToken> {
    // Checked first, so that a token of another issuer causes no fetch of keys.
    if (decodeJwt(token).iss !== settings.issuer) throw new TokenRefused('The token is of another issuer.');
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer: settings.issuer,
      audience: settings.audiences,
      algorithms: ALGORITHMS,
      clockTolerance: LEEWAY_SECONDS,
      requiredClaims: ['sub', 'exp'],
    });
    if (!/^(application\/)?(at\+)?jwt$/i.test(protectedHeader.typ ?? '')) {
      throw new TokenRefused('The token is not an access token: its typ must be at+jwt or JWT.');
    }
    return read(payload, settings);
  }

  return async (token) => {
    const digest = hash('sha256', token, 'base64');
    const cached = cache.get(digest);
    if (cached !== undefined) {
      if (Date.now() < cached.expiresAtMs) return cached.read;
      cache.delete(digest);
    }
    const read = await verify(token).catch((error: unknown) => {
      throw error instanceof errors.JOSEError ? refusalOf(error, settings) : error;
    });
    if (cache.size >= MAX_CACHED_TOKENS) cache.clear();
    cache.set(digest, { read, expiresAtMs: Math.min(read.expiresAtMs, Date.now() + TTL_MS) });
    return read;
  };
}

function read(claims: JWTPayload, { workspace, scopePrefix }: OAuthSettings): AccessToken {
  const { sub = '', exp = 0, email } = claims;
  if (!/^\P{Cc}{1,255}$/u.test(sub)) throw new TokenRefused('The claim sub of the token is missing or not valid.');
  const workspaceId = 'id' in workspace ? workspace.id : Uuid.safeParse(claims[workspace.claim]).data;
  if (workspaceId === undefined && 'claim' in workspace) {
    throw new TokenRefused(`The token names no workspace: its claim ${workspace.claim} must be the id of one.`);
  }
  return {
    subject: sub,
    client: String(claims['client_id'] ?? claims['azp'] ?? ''),
    workspaceId: workspaceId ?? '',
    scopes: new Set(
      words(claims['scope'] ?? claims['scp'])
        .filter((word) => word.startsWith(scopePrefix))
        .flatMap((word) => Scope.safeParse(word.slice(scopePrefix.length)).data ?? []),
    ),
    email: typeof email === 'string' && claims['email_verified'] === true ? (canonicalEmail(email) ?? null) : null,
    expiresAtMs: (exp + LEEWAY_SECONDS) * 1000,
  };
}

const words = (claim: unknown): string[] => (Array.isArray(claim) ? claim.map(String) : String(claim ?? '').split(' '));

function refusalOf(error: errors.JOSEError, { audiences }: OAuthSettings): TokenRefused {
  if (error instanceof errors.JWTExpired) {
    return new TokenRefused('The token has expired. Ask its issuer for a new one.', true);
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    return new TokenRefused(
      error.claim === 'aud'
        ? `The token is not meant for this service: its audience must be ${audiences.join(' or ')}.`
        : error.claim === 'nbf'
          ? 'The token is not valid yet.'
          : `The claim ${error.claim} of the token is missing or not valid.`,
    );
  }
  if (error instanceof errors.JWKSNoMatchingKey) {
    return new TokenRefused('The token is signed with a key that its issuer does not publish.');
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return new TokenRefused(`The token must be signed by one of ${ALGORITHMS.join(', ')}.`);
  }
  return new TokenRefused('The token is neither an API key nor a valid access token.');
}
