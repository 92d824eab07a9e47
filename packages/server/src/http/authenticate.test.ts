import { afterEach, describe, expect, test, vi } from 'vitest';
import { newApiKey } from '../credentials/api-key.ts';
import { issueKey } from '../credentials/issue.ts';
import { revokeCredential } from '../credentials/queries.ts';
import { now, secondsFromNow } from '../db/time.ts';
import { eventually, TIMED } from '../test/eventually.ts';
import { DIALECTS, type House, onEachDatabase, openHouse } from '../test/house.ts';
import { newcomer } from '../test/people.ts';
import { problemIn } from '../test/problem-in.ts';

const METADATA = 'https://review.example.com/.well-known/oauth-protected-resource';

const ping = (house: House, authorization?: string) =>
  house.request(null, 'GET', '/api/ping', authorization === undefined ? {} : { headers: { authorization } });

/** The same key with one character of its secret changed. */
const mistyped = (key: string) => key.slice(0, 10) + (key[10] === 'a' ? 'b' : 'a') + key.slice(11);

onEachDatabase(
  (house) => {
    const keyOf = (particulars: { expiresAt?: string | null } = {}) => {
      const { userId, workspaceId } = house().people.member;
      return issueKey(house().deps.db, { userId, workspaceId, scopes: ['files:read'], ...particulars });
    };

    afterEach(() => {
      vi.useRealTimers();
    });

    test('without a credential: 401 with the address of the resource metadata', async () => {
      const answer = await ping(house());
      await problemIn(answer, 'MISSING_CREDENTIAL');
      expect(answer.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${METADATA}"`);
    });

    test.each(['', 'Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', 'prs_k_', 'Bearer a b', 'BearerX token', ','])(
      'a header without a bearer token is 401: "%s"',
      async (authorization) => {
        const answer = await ping(house(), authorization);
        expect(answer.status).toBe(401);
        expect(answer.headers.get('www-authenticate')).toContain(`resource_metadata="${METADATA}"`);
      },
    );

    test.each([
      'nonsense',
      'prs_k_',
      `prs_k_${'0'.repeat(36)}`,
      `prs_k_${'é'.repeat(3)}`,
      'x'.repeat(8000),
      newApiKey(),
    ])('an unknown token is 401: %s', async (token) => {
      const answer = await ping(house(), `Bearer ${token}`);
      await problemIn(answer, 'INVALID_CREDENTIAL');
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer resource_metadata="${METADATA}", error="invalid_token"`,
      );
    });

    test.each(['Bearer', 'bearer', 'BEARER', 'Bearer  '])(
      'the scheme is accepted in any letter case: %s',
      async (scheme) => {
        expect((await ping(house(), `${scheme} ${house().people.member.key}`)).status).toBe(200);
      },
    );

    test('a key in the query string is ignored', async () => {
      const { key } = house().people.member;
      for (const query of [`access_token=${key}`, `token=${key}`, `key=${key}`]) {
        await problemIn(await house().request(null, 'GET', `/api/ping?${query}`), 'MISSING_CREDENTIAL');
      }
    });

    test('an expired key is 401 EXPIRED_CREDENTIAL, one before its expiry works', async () => {
      const expired = await keyOf({ expiresAt: secondsFromNow(-1) });
      const answer = await ping(house(), `Bearer ${expired.key}`);
      await problemIn(answer, 'EXPIRED_CREDENTIAL');
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer resource_metadata="${METADATA}", error="invalid_token"`,
      );
      const lasting = await keyOf({ expiresAt: secondsFromNow(60) });
      expect((await ping(house(), `Bearer ${lasting.key}`)).status).toBe(200);
    });

    test('a key expires at its time, also while it is cached', async () => {
      const brief = await keyOf({ expiresAt: secondsFromNow(60) });
      expect((await ping(house(), `Bearer ${brief.key}`)).status).toBe(200);
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
      await problemIn(await ping(house(), `Bearer ${brief.key}`), 'EXPIRED_CREDENTIAL');
    });

    test('a revoked key stops working within a second, also while it is in use', TIMED, async () => {
      const { id, key } = await keyOf();
      expect((await ping(house(), `Bearer ${key}`)).status).toBe(200);
      expect(await revokeCredential(house().deps.db, id, now())).toBeDefined();
      const refused = async () => (await ping(house(), `Bearer ${key}`)).status === 401;
      expect(await eventually(refused, 'the key is refused')).toBeLessThan(1000);
      await problemIn(await ping(house(), `Bearer ${key}`), 'INVALID_CREDENTIAL');
    });

    test('a person who leaves the workspace loses its keys within a second', TIMED, async () => {
      const person = await newcomer(house());
      expect((await ping(house(), `Bearer ${person.key}`)).status).toBe(200);
      await house().deps.db.deleteFrom('workspace_members').where('user_id', '=', person.userId).execute();
      const refused = async () => (await ping(house(), `Bearer ${person.key}`)).status === 401;
      expect(await eventually(refused, 'the key is refused')).toBeLessThan(1000);
    });

    describe('the last use', () => {
      const lastUse = async (id: string) => {
        const { db } = house().deps;
        const query = db.selectFrom('api_keys').select('last_used_at').where('id', '=', id);
        return (await query.executeTakeFirstOrThrow()).last_used_at;
      };
      const used = async (before: string | null) => {
        const { id, key } = await keyOf();
        await house().deps.db.updateTable('api_keys').set({ last_used_at: before }).where('id', '=', id).execute();
        return { id, key };
      };

      test('is written at the first use and not again within the minute', async () => {
        const { id, key } = await used(null);
        await Promise.all(Array.from({ length: 10 }, () => ping(house(), `Bearer ${key}`)));
        await eventually(async () => (await lastUse(id)) !== null, 'the use is written');
        const first = await lastUse(id);
        const again = await used(secondsFromNow(-61));
        for (let call = 0; call < 10; call++) await ping(house(), `Bearer ${key}`);
        // The write for the other key comes after a write for this one.
        await ping(house(), `Bearer ${again.key}`);
        await eventually(async () => (await lastUse(again.id)) !== null, 'the use is written');
        expect(await lastUse(id)).toBe(first);
      });

      test('is written again after a minute, not after half of one', async () => {
        const half = secondsFromNow(-30);
        const recent = await used(half);
        const stale = await used(secondsFromNow(-61));
        await ping(house(), `Bearer ${recent.key}`);
        await ping(house(), `Bearer ${stale.key}`);
        await eventually(async () => ((await lastUse(stale.id)) ?? '') > secondsFromNow(-30), 'the use is written');
        expect(await lastUse(recent.id)).toBe(half);
      });

      test('is not written for a key that is refused', async () => {
        const { id, key } = await keyOf({ expiresAt: secondsFromNow(-1) });
        await ping(house(), `Bearer ${key}`);
        expect(await lastUse(id)).toBeNull();
      });
    });
  },
  { PUBLIC_URL: 'https://review.example.com/' },
);

describe.each(DIALECTS)('%s', (dialect) => {
  test('a mistyped key is refused without a look-up, even without a database', async () => {
    await using house = await openHouse(dialect, { LOG_LEVEL: 'silent' });
    const { key } = house.people.owner;
    await house.deps[Symbol.asyncDispose]();
    for (const wrong of [
      mistyped(key),
      `${key}x`,
      key.slice(0, -1),
      key.toLowerCase(),
      key.replace('prs_k_', 'prs_j_'),
    ]) {
      await problemIn(await ping(house, `Bearer ${wrong}`), 'INVALID_CREDENTIAL');
    }
    expect((await ping(house, `Bearer ${newApiKey()}`)).status).toBeGreaterThanOrEqual(500);
  });
});
