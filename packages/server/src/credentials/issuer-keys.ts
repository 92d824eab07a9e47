import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';

/** The keys of the issuer are not to be had: nobody's fault who shows a token of it. */
export class IssuerUnreachable extends Error {
  override name = 'IssuerUnreachable';
}

/** Looked at again after this long, so that a key that the issuer has withdrawn stops working. */
const FRESH_MS = 10 * 60_000;
/** An issuer that is away does not lock out whoever holds a token of a key that is known. */
const KEPT_MS = 24 * 60 * 60_000;
/** How often tokens of made-up keys can send us to the issuer. */
const COOL_DOWN_MS = 30_000;
const RETRY_MS = 1000;
const TIMEOUT_MS = 5000;

const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });
const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

/** The public keys of the issuer: fetched once, kept, and fetched again when a token names one that is not among them. */
export function issuerKeys({ issuer, jwksUrl }: { issuer: string; jwksUrl: string | null }): JWTVerifyGetKey {
  let known: { find: JWTVerifyGetKey; at: number } | null = null;
  let loading: Promise<JWTVerifyGetKey> | null = null;
  let retryAt = 0;
  let askAgainAt = 0;

  async function load(): Promise<JWTVerifyGetKey> {
    if (performance.now() < retryAt) throw new IssuerUnreachable('the issuer did not answer a moment ago');
    try {
      const find = createLocalJWKSet(await fetchAs(KeySet, jwksUrl ?? (await discover(issuer))));
      known = { find, at: performance.now() };
      return find;
    } catch (error) {
      retryAt = performance.now() + RETRY_MS;
      throw new IssuerUnreachable(`the keys of ${issuer} could not be fetched`, { cause: error });
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
      if (age < KEPT_MS) return find;
      throw error;
    });
  }

  return async (header, token) => {
    const find = await current();
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || performance.now() < askAgainAt) throw error;
      const renewed = await loadOnce();
      askAgainAt = performance.now() + COOL_DOWN_MS;
      return renewed(header, token);
    }
  };
}

/** Where the issuer says that its keys are: by OpenID Connect Discovery, or else by RFC 8414. */
async function discover(issuer: string): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/+$/, '');
  const openId = await fetchAs(Discovery, `${origin}${path}/.well-known/openid-configuration`).catch(() => null);
  const found = openId ?? (await fetchAs(Discovery, `${origin}/.well-known/oauth-authorization-server${path}`));
  if (found.issuer !== issuer) throw new Error(`the discovery document is that of ${found.issuer}`);
  return found.jwks_uri;
}

async function fetchAs<T>(schema: z.ZodType<T>, url: string): Promise<T> {
  const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return schema.parse(await answer.json());
}
