import { ApiProblem, createClient } from '@review/client';
import { describe, expect, test } from 'vitest';
import { onEachDatabase, refusal } from './test/house.ts';
import { newcomer, newProject } from './test/people.ts';

/** The typed client's errors for refusals of the real service. */
onEachDatabase((house) => {
  test('a refusal is an ApiProblem with all fields of the response', async () => {
    const { people, projectId: id } = house();
    const call = people.owner.client.folders.create({ params: { id }, body: { name: '', parent: { id: 'DX1' } } });
    const problem = await refusal(call, 'INVALID_REQUEST');
    expect(problem).toBeInstanceOf(ApiProblem);
    expect(problem).toMatchObject({ status: 400, retryAfter: null, message: '2 fields are not valid.' });
    expect(problem.errors.map(({ pointer, code }) => [pointer, code])).toEqual([
      ['/name', 'TOO_SHORT'],
      ['/parent/id', 'INVALID_FORMAT'],
    ]);
    expect(problem.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    ['MISSING_CREDENTIAL', 401, ''],
    ['INVALID_CREDENTIAL', 401, 'prs_k_nonsense'],
  ])('%s is %i', async (code, status, token) => {
    const client = createClient({ baseUrl: `${house().url}/`, token, retries: 0 });
    expect((await refusal(client.ping.ping(), code)).status).toBe(status);
  });

  test('an id with slashes cannot change the path', async () => {
    const caller = await newcomer(house());
    const id = await newProject(caller);
    await refusal(caller.client.projects.get({ params: { id: `${id}/members` } }), 'NOT_FOUND');
    await refusal(caller.client.projects.delete({ params: { id: `${id}/delete?` } }), 'NOT_FOUND');
    expect((await caller.client.projects.get({ params: { id } })).data.deletesAt).toBeNull();
  });
});

describe('with limits', () => {
  onEachDatabase(
    (house) => {
      test('RATE_LIMITED contains the seconds to wait', async () => {
        const caller = await newcomer(house());
        for (let call = 0; call < 2; call++) await caller.client.members.listWorkspace();
        const problem = await refusal(caller.client.members.listWorkspace(), 'RATE_LIMITED');
        expect(problem.status).toBe(429);
        expect(problem.retryAfter).toBeGreaterThanOrEqual(1);
        expect(problem.retryAfter).toBeLessThanOrEqual(60);
      });
    },
    { RATE_LIMITS: 'default=2' },
  );
});
