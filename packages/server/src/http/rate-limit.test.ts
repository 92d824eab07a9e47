import { afterEach, describe, expect, test, vi } from 'vitest';
import { newApiKey } from '../credentials/api-key.ts';
import { newUuid } from '../db/ids.ts';
import { json, onEachDatabase } from '../test/house.ts';
import { newcomer, newProject } from '../test/people.ts';
import { problemIn } from '../test/problem-in.ts';
import { sentWhile } from '../test/sent-statements.ts';

const LIMITS = 'default=3,tier-3=5,tier-4=4,failed-credentials=3';

/** `"tier-3";r=4;t=60` as its parts. */
function rate(answer: Response): { name: string; left: number; seconds: number } {
  const [, name = '', left, seconds] = /^"([\w-]+)";r=(\d+);t=(\d+)$/.exec(answer.headers.get('ratelimit') ?? '') ?? [];
  return { name, left: Number(left), seconds: Number(seconds) };
}

const monotonicNow = performance.now.bind(performance);

let address = 0;
/** Each test uses its own address for failures. */
const from = () => ({ 'x-forwarded-for': `198.51.100.${++address}` });

onEachDatabase(
  (house) => {
    const as = (key: string, method: string, path: string, init: RequestInit = {}) =>
      house().request(null, method, path, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } });

    let passedMs = 0;
    afterEach(() => {
      passedMs = 0;
      vi.useRealTimers();
      vi.restoreAllMocks();
    });

    const setClock = (aheadMs: number) => {
      vi.useRealTimers();
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + aheadMs });
    };

    /** Lets seconds pass, by the clocks of this process and for the windows in Postgres. */
    async function pass(seconds: number): Promise<void> {
      passedMs += seconds * 1000;
      setClock(passedMs);
      vi.spyOn(performance, 'now').mockImplementation(() => monotonicNow() + passedMs);
      const { db, opened } = house().deps;
      if (opened.dialect === 'sqlite') return;
      await db
        .updateTable('rate_limits')
        .set((eb) => ({ expire: eb('expire', '-', seconds * 1000) }))
        .execute();
    }

    test('every response has the limit, the remaining requests and the end of the window', async () => {
      const person = await newcomer(house());
      const answer = await as(person.key, 'GET', '/api/ping');
      expect(answer.headers.get('ratelimit-policy')).toBe('"default";q=3;w=60');
      expect(answer.headers.get('ratelimit')).toMatch(/^"default";r=2;t=(59|60)$/);
    });

    test('refusals count too: 400, 403 and 404', async () => {
      const { projectId } = house();
      const { key } = await house().withScopes('reviewer', ['folders:write']);
      const path = `/api/projects/${projectId}/folders`;
      const answers = [
        await as(key, 'POST', path, json({})),
        await as(key, 'POST', `/api/projects/${newUuid()}/folders`, json({})),
      ];
      expect(answers.map(({ status }) => status)).toEqual([403, 404]);
      expect(answers.map((answer) => rate(answer).left)).toEqual([4, 3]);
      expect(answers.map((answer) => answer.headers.get('ratelimit-policy'))).toEqual(
        Array(2).fill('"tier-3";q=5;w=60'),
      );
      const other = await house().withScopes('owner', ['folders:write']);
      const invalid = await as(other.key, 'POST', path, json({}));
      expect([invalid.status, rate(invalid).left]).toEqual([400, 4]);
      const unscoped = await as(other.key, 'GET', `/api/projects/${projectId}/members`);
      expect([unscoped.status, rate(unscoped)]).toMatchObject([403, { name: 'default', left: 2 }]);
    });

    test('exactly the limit is allowed, then 429 with Retry-After, before scope and visibility', async () => {
      const { key } = await house().withScopes('stranger', []);
      const path = `/api/projects/${house().projectId}/folders`;
      for (const left of [2, 1, 0]) {
        const answer = await as(key, 'GET', path);
        expect([answer.status, rate(answer).left]).toEqual([403, left]);
      }
      for (let again = 0; again < 5; again++) {
        const answer = await as(key, 'GET', path);
        await problemIn(answer, 'RATE_LIMITED');
        const { name, left, seconds } = rate(answer);
        expect([name, left]).toEqual(['default', 0]);
        expect(seconds).toBeGreaterThanOrEqual(1);
        expect(answer.headers.get('retry-after')).toBe(String(seconds));
        expect(answer.headers.get('ratelimit-policy')).toBe('"default";q=3;w=60');
      }
    });

    test('a call that the limit or the scope refuses looks up no subject', async () => {
      const { key } = await house().withScopes('owner', ['folders:read']);
      const path = `/api/projects/${house().projectId}`;
      const statuses: number[] = [];
      const ask = async (calls: number, asked: string) => {
        for (let call = 0; call < calls; call++) statuses.push((await as(key, 'GET', asked)).status);
      };
      await ask(4, `${path}/folders`);
      const sent = await sentWhile(house().deps.db, async () => {
        await ask(3, `${path}/folders`);
        await ask(1, `${path}/members`);
      });
      expect(statuses).toEqual([200, 200, 200, 429, 429, 429, 429, 403]);
      expect(sent.filter(({ sql: text }) => text.includes('project_members'))).toEqual([]);
    });

    test('of concurrent calls exactly the limit is allowed', async () => {
      const person = await newcomer(house());
      const project = await newProject(await newcomer(house()));
      const answers = await Promise.all(
        Array.from({ length: 40 }, () =>
          as(person.key, 'POST', `/api/projects/${project}/folders`, json({ name: 'A' })),
        ),
      );
      const statuses = Map.groupBy(answers, ({ status }) => status);
      expect([statuses.get(404)?.length, statuses.get(429)?.length]).toEqual([5, 35]);
    });

    test('each operation and each credential has its own count', async () => {
      const person = await newcomer(house());
      const path = `/api/projects/${house().projectId}`;
      for (let call = 0; call < 3; call++) await as(person.key, 'GET', '/api/ping');
      expect((await as(person.key, 'GET', '/api/ping')).status).toBe(429);
      expect(rate(await as(person.key, 'GET', '/api/workspace/members'))).toMatchObject({ name: 'default', left: 2 });
      expect(rate(await as(person.key, 'GET', path))).toMatchObject({ name: 'tier-4', left: 3 });
      expect(rate(await as(person.key, 'QUERY', '/api/projects', json({})))).toMatchObject({ name: 'tier-4', left: 3 });
      expect(rate(await as(person.key, 'POST', '/api/projects', json({})))).toMatchObject({ name: 'tier-3', left: 4 });
      const another = await newcomer(house(), { email: person.email });
      expect(another.userId).toBe(person.userId);
      expect((await as(another.key, 'GET', '/api/ping')).status).toBe(200);
    });

    test('the next call is allowed after Retry-After seconds, and not a second earlier', async () => {
      const person = await newcomer(house());
      for (let call = 0; call < 3; call++) await as(person.key, 'GET', '/api/ping');
      const refused = await as(person.key, 'GET', '/api/ping');
      const wait = Number(refused.headers.get('retry-after'));
      await pass(wait - 1.5);
      const early = await as(person.key, 'GET', '/api/ping');
      expect([early.status, Number(early.headers.get('retry-after'))]).toEqual([
        429,
        expect.toSatisfy((s) => s >= 1 && s <= 2),
      ]);
      await pass(1.5);
      const next = await as(person.key, 'GET', '/api/ping');
      expect([next.status, rate(next)]).toEqual([200, { name: 'default', left: 2, seconds: 60 }]);
    });

    test('a clock that is set back by an hour lengthens no window', async () => {
      const person = await newcomer(house());
      for (let call = 0; call < 3; call++) await as(person.key, 'GET', '/api/ping');
      setClock(-3_600_000);
      const refused = await as(person.key, 'GET', '/api/ping');
      expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([
        429,
        expect.toSatisfy((seconds) => seconds >= 1 && seconds <= 60),
      ]);
    });

    test('a HEAD counts as a GET', async () => {
      const person = await newcomer(house());
      expect(rate(await as(person.key, 'HEAD', '/api/ping')).left).toBe(2);
      expect(rate(await as(person.key, 'GET', '/api/ping')).left).toBe(1);
    });

    test('what needs no credential has no limit', async () => {
      for (const path of ['/healthz', '/readyz', '/api/openapi.json', '/api/nothing', '/problems/not-found']) {
        const { headers } = await house().request(null, 'GET', path);
        expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null]);
      }
    });

    describe('failed credentials', () => {
      const fail = (headers: Record<string, string>, token = newApiKey()) =>
        house().request(null, 'GET', '/api/ping', { headers: { ...headers, authorization: `Bearer ${token}` } });

      test('are counted by address, for any reason; then 429', async () => {
        const here = from();
        const answers = [
          await fail(here),
          await fail(here, 'nonsense'),
          await house().request(null, 'GET', '/api/models', { headers: here }),
        ];
        expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
        expect(answers.map((answer) => rate(answer))).toMatchObject([2, 1, 0].map((left) => ({ left })));
        expect(answers[0]?.headers.get('ratelimit-policy')).toBe('"failed-credentials";q=3;w=60');
        for (let again = 0; again < 3; again++) {
          const refused = await fail(here);
          await problemIn(refused, 'RATE_LIMITED');
          expect(refused.headers.get('retry-after')).toBe(String(rate(refused).seconds));
        }
        expect((await fail(from())).status).toBe(401);
      });

      test('refuse only further failures: a valid key always passes', async () => {
        const here = from();
        for (let call = 0; call < 5; call++) await fail(here);
        expect((await fail(here)).status).toBe(429);
        const person = await newcomer(house());
        const answer = await as(person.key, 'GET', '/api/ping', { headers: here });
        expect([answer.status, rate(answer)]).toMatchObject([200, { name: 'default', left: 2 }]);
      });

      test('include wrong worker tokens; the right token always passes', async () => {
        const here = from();
        const register = (token: string) =>
          house().request(
            null,
            'POST',
            '/worker/hello',
            json({ worker: 'box:1', families: [] }, { ...here, authorization: `Bearer ${token}` }),
          );
        for (let call = 0; call < 3; call++) expect((await register('wrong')).status).toBe(401);
        await problemIn(await register('wrong'), 'RATE_LIMITED');
        expect((await fail(here)).status).toBe(429);
        expect((await register(house().deps.config.workerToken)).status).toBe(200);
      });

      test('of concurrent failures exactly the limit is 401', async () => {
        const here = from();
        const answers = await Promise.all(Array.from({ length: 30 }, () => fail(here)));
        expect(answers.filter(({ status }) => status === 401)).toHaveLength(3);
        expect(answers.filter(({ status }) => status === 429)).toHaveLength(27);
      });
    });
  },
  { RATE_LIMITS: LIMITS, TRUST_PROXY: 'loopback' },
);

const CALLERS = ['198.51.100.1', '198.51.100.2', '198.51.100.3'];
/** The X-Forwarded-For entry of the caller, then that of the proxy. */
const FORGED = ['1.1.1.1, 198.51.100.9', '2.2.2.2, 198.51.100.9', '3.3.3.3, 198.51.100.9'];

describe.each([
  ['off', 'trusts no proxy', CALLERS, [401, 401, 429]],
  ['10.0.0.1', 'trusts only that proxy', CALLERS, [401, 401, 429]],
  ['1', 'trusts one proxy', CALLERS, [401, 401, 401]],
  ['1', 'trusts one proxy and not the entries before it', FORGED, [401, 401, 429]],
])('TRUST_PROXY=%s', (trusted, rule, forwarded, expected) => {
  onEachDatabase(
    (house) => {
      test(rule, async () => {
        const statuses: number[] = [];
        for (const address of forwarded) {
          const headers = { 'x-forwarded-for': address };
          statuses.push((await house().request(null, 'GET', '/api/ping', { headers })).status);
        }
        expect(statuses).toEqual(expected);
      });
    },
    { RATE_LIMITS: 'failed-credentials=2', TRUST_PROXY: trusted },
  );
});

onEachDatabase((house) => {
  test('RATE_LIMITS=off disables the limits and their headers', async () => {
    const calls = Array.from({ length: 120 }, (_, index) =>
      house().request(index % 2 === 0 ? 'owner' : null, 'GET', '/api/ping'),
    );
    for (const { status, headers } of await Promise.all(calls)) {
      expect([200, 401]).toContain(status);
      expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null]);
    }
  });
});
