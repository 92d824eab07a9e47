import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';

/** The keys of the issuer cannot be fetched. */
export class IssuerUnreachable extends Error {
  override name = 'IssuerUnreachable';
}

/** Keys are fetched again after this time, so that a withdrawn key stops working. */
const FRESH_MS = 10 * 60_000;
/** Stale keys stay in use for this time while the issuer is unreachable. */
const MAX_STALE_MS = 24 * 60 * 60_000;
/** The minimum interval of fetches that tokens with unknown keys cause. */
const COOL_DOWN_MS = 30_000;
const RETRY_MS = 1000;
const TIMEOUT_MS = 5000;

const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });
const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

/** Returns a cached look-up of the issuer's public keys. Fetches them again when a token has an unknown key id. */
export function issuerKeys({ issuer, jwksUrl }: { issuer: string; jwksUrl: string | null }): JWTVerifyGetKey {
  let known: { find: JWTVerifyGetKey; at: number } | null = null;
  let loading: Promise<JWTVerifyGetKey> | null = null;
  let retryAt = 0;
  let refreshAllowedAt = 0;

  async function load(): Promise<JWTVerifyGetKey> {
    if (performance.now() < retryAt)
      throw new IssuerUnreachable('The issuer did not answer; the next attempt is in a second.');
    try {
      const find = createLocalJWKSet(await fetchAs(KeySet, jwksUrl ?? (await discover(issuer))));
      known = { find, at: performance.now() };
      return find;
    } catch (error) {
      retryAt = performance.now() + RETRY_MS;
      throw new IssuerUnreachable(`The keys of ${issuer} could not be fetched.`, { cause: error });
    }
  }
  const loadOnce = () => {
    loading ??= load().finally(() => {
      loading = null;
    });
    return loading;
  };

  async function current(): Promise<JWTVerifyGetKey> {
    if (known === null) return loadOnce();
    const { find, at } = known;
    const age = performance.now() - at;
    if (age < FRESH_MS) return find;
    return loadOnce().catch((error: unknown) => {
      if (age < MAX_STALE_MS) return find;
      throw error;
    });
  }

  return async (header, token) => {
    const find = await current();
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || performance.now() < refreshAllowedAt) throw error;
      const renewed = await loadOnce();
      refreshAllowedAt = performance.now() + COOL_DOWN_MS;
      return renewed(header, token);
    }
  };
}

/** Returns the issuer's JWKS URL, from OpenID Connect Discovery or else RFC 8414. */
async function discover(issuer: string): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/+$/, '');
  const openId = await fetchAs(Discovery, `${origin}${path}/.well-known/openid-configuration`).catch(() => null);
  const found = openId ?? (await fetchAs(Discovery, `${origin}/.well-known/oauth-authorization-server${path}`));
  if (found.issuer !== issuer)
    throw new Error(`The discovery document of ${issuer} has another issuer: ${found.issuer}.`);
  return found.jwks_uri;
}

async function fetchAs<T>(schema: z.ZodType<T>, url: string): Promise<T> {
  const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}.`);
  return schema.parse(await answer.json());
}
