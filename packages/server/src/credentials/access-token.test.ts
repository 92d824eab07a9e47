import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { eventually, TIMED } from '../test/eventually.ts';
import { DIALECTS, type House, onEachDatabase, openHouse } from '../test/house.ts';
import { newcomer } from '../test/people.ts';
import { problemIn } from '../test/problem-in.ts';
import { type Issuer, openIssuer } from './test/issuer.ts';

const AUDIENCE = 'https://review.example.com';
const SECONDS = () => Math.floor(Date.now() / 1000);

const ping = (house: House, token: string) =>
  house.request(null, 'GET', '/api/ping', { headers: { authorization: `Bearer ${token}` } });

/** The claims of a token of the house's owner beside the common ones. */
const ownerOf = (house: House): JWTPayload => ({
  sub: 'the-owner',
  email: 'owner@example.com',
  email_verified: true,
  workspace: house.workspaceId,
  scope: 'files:read folders:write openid made:up',
});

const issuer: Issuer = await openIssuer(() => AUDIENCE);
afterAll(() => issuer[Symbol.asyncDispose]());

onEachDatabase(
  (house) => {
    afterEach(() => {
      vi.useRealTimers();
    });
    const token = (claims: JWTPayload = {}, header = {}) => issuer.token({ ...ownerOf(house()), ...claims }, header);

    async function refused(text: string, code: 'INVALID_CREDENTIAL' | 'EXPIRED_CREDENTIAL', detail: RegExp) {
      const answer = await ping(house(), text);
      const problem = await problemIn(answer, code);
      expect(problem.detail).toMatch(detail);
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer resource_metadata="${AUDIENCE}/.well-known/oauth-protected-resource", error="invalid_token"`,
      );
    }

    test('a token authenticates its subject in its workspace, with the scopes that the service knows', async () => {
      const answer = await ping(house(), await token());
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({
        data: { workspace: { id: house().workspaceId }, scopes: ['files:read', 'folders:write'] },
      });
      const path = `/api/projects/${house().projectId}/folders`;
      const call = async (method: string, scope: string) =>
        house().request(null, method, path, {
          headers: { authorization: `Bearer ${await token({ scope })}`, 'content-type': 'application/json' },
          ...(method === 'POST' && { body: JSON.stringify({ name: 'By token' }) }),
        });
      expect((await call('POST', 'folders:write')).status).toBe(201);
      await problemIn(await call('POST', 'folders:read'), 'INSUFFICIENT_SCOPE');
      expect((await call('GET', 'folders:read')).status).toBe(200);
    });

    test.each([
      ['scp as a list', { scope: undefined, scp: ['files:read'] }, {}],
      ['scp as words', { scope: undefined, scp: 'files:read' }, {}],
      ['typ JWT', {}, { typ: 'JWT' }],
      ['typ with its family', {}, { typ: 'application/at+jwt' }],
      ['one audience of several', { aud: ['https://other.example.com', AUDIENCE] }, {}],
      ['the tools as its audience', { aud: `${AUDIENCE}/mcp` }, {}],
    ])('%s is accepted', async (_, claims, header) => {
      expect((await ping(house(), await token(claims, header))).status).toBe(200);
    });

    test('an issuer whose clock differs by 3 seconds is accepted', async () => {
      for (const claims of [{ exp: SECONDS() - 3 }, { nbf: SECONDS() + 3 }]) {
        expect((await ping(house(), await token(claims))).status).toBe(200);
      }
    });

    test('a token without a known scope is valid, and calls nothing that needs a scope', async () => {
      const answer = await ping(house(), await token({ scope: undefined }));
      expect(await answer.json()).toMatchObject({ data: { scopes: [] } });
    });

    test('an expired token is 401 EXPIRED_CREDENTIAL, also while it is cached', async () => {
      await refused(await token({ exp: SECONDS() - 60 }), 'EXPIRED_CREDENTIAL', /expired/);
      const brief = await token({ exp: SECONDS() + 60 });
      expect((await ping(house(), brief)).status).toBe(200);
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 75_000 });
      await refused(brief, 'EXPIRED_CREDENTIAL', /expired/);
    });

    test.each([
      ['for another service', { aud: 'https://other.example.com' }, /audience/],
      ['without an audience', { aud: undefined }, /audience/],
      ['of another issuer', { iss: 'https://login.example.com' }, /another issuer/],
      ['not valid yet', { nbf: SECONDS() + 60 }, /not valid yet/],
      ['without an end', { exp: undefined }, /claim exp/],
      ['without a subject', { sub: undefined }, /claim sub/],
      ['with a subject that no database stores', { sub: 'a\0b' }, /claim sub/],
      ['without a workspace', { workspace: undefined }, /no workspace.*claim workspace/],
      ['with a workspace that is no id', { workspace: ['Studio'] }, /no workspace/],
      ['of a workspace that is not there', { workspace: '0198c0de-0000-7000-8000-000000000000' }, /not a member/],
    ])('a token %s is refused', async (_, claims, detail) => {
      await refused(await token(claims), 'INVALID_CREDENTIAL', detail);
    });

    test('a token of another type, or with a symmetric or no signature, is refused', async () => {
      await refused(await token({}, { typ: 'logout+jwt' }), 'INVALID_CREDENTIAL', /typ/);
      await refused(await token({}, { typ: undefined }), 'INVALID_CREDENTIAL', /typ/);
      const claims = { ...ownerOf(house()), iss: issuer.url, aud: AUDIENCE, exp: SECONDS() + 60 };
      await refused(new UnsecuredJWT(claims).encode(), 'INVALID_CREDENTIAL', /./);
      const shared = new TextEncoder().encode('a secret that both sides would have to know');
      const symmetric = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' }).sign(shared);
      await refused(symmetric, 'INVALID_CREDENTIAL', /signed by one of RS256/);
      const [head, , signature] = (await token()).split('.');
      const altered = Buffer.from(JSON.stringify({ ...claims, scope: 'skills:write' })).toString('base64url');
      await refused(`${head}.${altered}.${signature}`, 'INVALID_CREDENTIAL', /neither an API key/);
      for (const text of ['a.b.c', '...', 'e30.e30.', 'x'.repeat(8000)]) {
        await refused(text, 'INVALID_CREDENTIAL', /./);
      }
    });

    describe('the account of a token', () => {
      test('a verified look-alike address is another address', async () => {
        const lookedLike = await newcomer(house(), { email: 'kim-s@example.com' });
        for (const [ascii, other] of [
          ['k', '\u212a'],
          ['s', '\u017f'],
          ['i', '\u0130'],
          ['i', 'i\u0307'],
          ['k', '\uff2b'],
          ['@', '\u0000@'],
          ['@', '\u200b@'],
        ] as const) {
          const email = lookedLike.email.replace(ascii, other);
          const claims = { sub: `look-alike-${lookedLike.userId}-${other}`.replaceAll(/\p{Cc}/gu, ''), email };
          await refused(await token(claims), 'INVALID_CREDENTIAL', /linked/);
        }
      });

      test('an e-mail that the issuer has not verified matches no account', async () => {
        const { email, userId } = await newcomer(house());
        for (const email_verified of [undefined, false, 'true', 1]) {
          const claims = { sub: `unverified-${userId}`, email, email_verified };
          await refused(await token(claims), 'INVALID_CREDENTIAL', /verified/);
        }
        await refused(await token({ sub: 'nobody', email: undefined }), 'INVALID_CREDENTIAL', /linked/);
        await refused(await token({ sub: 'nobody', email: 'nobody@example.com' }), 'INVALID_CREDENTIAL', /linked/);
      });

      test('a linked subject keeps its account when its e-mail changes or is missing', async () => {
        const person = await newcomer(house());
        const claims = { sub: `subject-${person.userId}`, email: person.email.toUpperCase() };
        expect((await ping(house(), await token(claims))).status).toBe(200);
        expect((await ping(house(), await token({ ...claims, email: undefined }))).status).toBe(200);
        const moved = await token({ ...claims, email: 'owner@example.com' });
        const me = { headers: { authorization: `Bearer ${moved}`, 'content-type': 'application/json' } };
        const made = await house().request(null, 'QUERY', '/api/projects', { ...me, body: '{}' });
        // The new person is in no project; the owner of that e-mail is.
        await problemIn(made, 'INSUFFICIENT_SCOPE');
        const readable = await token({ ...claims, email: 'owner@example.com', scope: 'projects:read' });
        const list = await house().request(null, 'QUERY', '/api/projects', {
          headers: { ...me.headers, authorization: `Bearer ${readable}` },
          body: '{}',
        });
        expect(await list.json()).toMatchObject({ data: [] });
      });

      test('an account has one subject: a later subject with its e-mail does not get the account', async () => {
        const person = await newcomer(house());
        const claims = { sub: `first-${person.userId}`, email: person.email };
        expect((await ping(house(), await token(claims))).status).toBe(200);
        const later = await token({ ...claims, sub: `second-${person.userId}` });
        await refused(later, 'INVALID_CREDENTIAL', /linked/);
      });

      test(
        'a person who leaves the workspace loses access within a second, also while the token is cached',
        TIMED,
        async () => {
          const person = await newcomer(house());
          const text = await token({ sub: `leaver-${person.userId}`, email: person.email });
          expect((await ping(house(), text)).status).toBe(200);
          await house().deps.db.deleteFrom('workspace_members').where('user_id', '=', person.userId).execute();
          const gone = async () => (await ping(house(), text)).status === 401;
          expect(await eventually(gone, 'the token is refused')).toBeLessThan(1000);
          await refused(text, 'INVALID_CREDENTIAL', /not a member/);
        },
      );
    });

    test('an idempotency key still applies after the token was renewed', async () => {
      const create = async () =>
        house().request(null, 'POST', `/api/projects/${house().projectId}/folders`, {
          headers: {
            authorization: `Bearer ${await token({ jti: crypto.randomUUID() })}`,
            'content-type': 'application/json',
            'idempotency-key': 'renewed',
          },
          body: JSON.stringify({ name: 'Once' }),
        });
      const [first, again] = [await create(), await create()];
      expect([first.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    });

    test('the metadata names the issuer, for the API and for the tools', async () => {
      for (const resource of ['', '/mcp']) {
        const answer = await fetch(`${house().url}/.well-known/oauth-protected-resource${resource}`);
        expect(await answer.json()).toMatchObject({
          resource: AUDIENCE + resource,
          authorization_servers: [issuer.url],
          bearer_methods_supported: ['header'],
          scopes_supported: expect.arrayContaining(['ai:generate']),
        });
      }
    });
  },
  { OAUTH_ISSUER: issuer.url, PUBLIC_URL: AUDIENCE },
);

describe.each(DIALECTS)('the keys, %s', (dialect) => {
  let own: Issuer;
  let house: House & AsyncDisposable;
  const status = async (text: Promise<string>) => (await ping(house, await text)).status;
  const token = () => own.token(ownerOf(house));

  beforeAll(async () => {
    own = await openIssuer(() => AUDIENCE, 'rfc8414');
    house = await openHouse(dialect, { OAUTH_ISSUER: own.url, PUBLIC_URL: AUDIENCE, LOG_LEVEL: 'silent' });
    return async () => {
      await house[Symbol.asyncDispose]();
      await own[Symbol.asyncDispose]();
    };
  });

  test('unreachable keys are 503 until they are reachable; rotated keys are fetched, unknown ones at most once per cool-down', async () => {
    await own.stop();
    const answer = await ping(house, await token());
    await problemIn(answer, 'NOT_READY');
    expect(answer.headers.get('retry-after')).toBe('1');
    await own.restart();
    await eventually(async () => (await status(token())) === 200, 'the token is good');
    expect(own.fetches).toBe(1);

    // A hundred tokens of one key cause one fetch.
    await Promise.all(
      Array.from({ length: 100 }, async (_, jti) => status(own.token({ ...ownerOf(house), jti: `${jti}` }))),
    );
    expect(own.fetches).toBe(1);

    const before = await token();
    expect((await ping(house, before)).status).toBe(200);
    await own.stop();
    // An unreachable issuer affects unknown keys only.
    expect(await status(token())).toBe(200);
    await own.rotate();
    await problemIn(await ping(house, await token()), 'NOT_READY');
    await own.restart();
    await eventually(async () => (await status(token())) === 200, 'the new key is known');
    expect(own.fetches).toBe(2);

    // Unknown keys do not cause repeated fetches.
    for (let call = 0; call < 5; call++) {
      await problemIn(await ping(house, await own.forge(ownerOf(house))), 'INVALID_CREDENTIAL');
    }
    expect(own.fetches).toBe(2);
    // A cached token stays valid after its key was withdrawn.
    expect((await ping(house, before)).status).toBe(200);
  });
});

test('one workspace for all tokens, a scope prefix, an audience and a JWKS URL can be configured', async () => {
  await using own = await openIssuer(() => 'api://review');
  await using house = await openHouse('sqlite', { OAUTH_ISSUER: own.url, OAUTH_WORKSPACE: crypto.randomUUID() });
  const claims = { ...ownerOf(house), scope: 'api://review/files:read folders:write', workspace: undefined };
  await problemIn(await ping(house, await own.token(claims)), 'INVALID_CREDENTIAL');
  const { databaseUrl, workspaceId } = house;
  await using other = await openHouse('sqlite', {
    DATABASE_URL: databaseUrl,
    OAUTH_ISSUER: own.url,
    OAUTH_JWKS_URL: `${own.url}/keys`,
    OAUTH_AUDIENCE: 'api://other, api://review',
    OAUTH_WORKSPACE: workspaceId,
    OAUTH_SCOPE_PREFIX: 'api://review/',
  });
  const answer = await ping(other, await own.token(claims));
  expect(await answer.json()).toMatchObject({ data: { workspace: { id: workspaceId }, scopes: ['files:read'] } });
  const metadata = await fetch(`${other.url}/.well-known/oauth-protected-resource`);
  expect(await metadata.json()).toMatchObject({
    scopes_supported: expect.arrayContaining(['api://review/files:read']),
  });
});
