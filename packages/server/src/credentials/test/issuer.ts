import { once } from 'node:events';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';

export interface Issuer extends AsyncDisposable {
  url: string;
  /** How often its keys were fetched. */
  fetches: number;
  /** Returns a token signed with the newest key. The given claims override those of a valid token. */
  token(claims: JWTPayload, particulars?: Partial<JWTHeaderParameters>): Promise<string>;
  /** Replaces the published key by a new one. */
  rotate(): Promise<void>;
  /** Signs with a key that is not published. */
  forge(claims: JWTPayload): Promise<string>;
  stop(): Promise<void>;
  restart(): Promise<void>;
}

let keys = 0;

async function newKey(alg: string) {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  const kid = `key-${++keys}`;
  return { kid, alg, privateKey, published: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** A stand-in for an authorization server: its discovery document and its keys. */
export async function openIssuer(audience: () => string, discovery: 'openid' | 'rfc8414' = 'openid'): Promise<Issuer> {
  let key = await newKey('ES256');
  const issuer = { fetches: 0, url: '' };
  const path =
    discovery === 'openid'
      ? '/realm/.well-known/openid-configuration'
      : '/.well-known/oauth-authorization-server/realm';
  const server = createServer((request, response) => {
    const answer = (body: unknown) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    if (request.url === path) return answer({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` });
    if (request.url !== '/realm/keys') return response.writeHead(404).end();
    issuer.fetches += 1;
    return answer({ keys: [key.published] });
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const stop = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  await listen(0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  issuer.url = `http://127.0.0.1:${port}/realm`;

  const sign = (
    claims: JWTPayload,
    { kid, alg, privateKey }: typeof key,
    header: Partial<JWTHeaderParameters> = {},
  ) => {
    const seconds = Math.floor(Date.now() / 1000);
    const good = { iss: issuer.url, aud: audience(), iat: seconds, exp: seconds + 300 };
    return new SignJWT({ ...good, ...claims })
      .setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header })
      .sign(privateKey);
  };
  return Object.assign(issuer, {
    token: (claims: JWTPayload, header?: Partial<JWTHeaderParameters>) => sign(claims, key, header),
    forge: async (claims: JWTPayload) => sign(claims, await newKey('ES256')),
    async rotate() {
      key = await newKey('RS256');
    },
    stop,
    restart: () => listen(port),
    [Symbol.asyncDispose]: stop,
  });
}
