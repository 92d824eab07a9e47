import { createWorkerClient } from '@review/client/worker';
import { FAMILIES, WORKER_API_VERSION, WORKER_API_VERSION_HEADER } from '@review/contract';
import { expect, test } from 'vitest';
import { type House, json, onEachDatabase, refusal } from '../../test/house.ts';
import { listWorkers } from './queries.ts';

const BODY = { worker: 'box:1', families: [{ family: 'veo', state: 'live', reason: null }] };

const hello = (house: House, body: unknown, authorization: string | null) =>
  fetch(`${house.url}/worker/hello`, {
    method: 'POST',
    ...json(body, authorization === null ? {} : { authorization }),
  });

const workers = ({ deps }: House) => listWorkers(deps.db, deps.clock);

onEachDatabase((house) => {
  const bearer = () => `Bearer ${house().deps.config.workerToken}`;

  test('a worker with the token gets the name of the engine, and its report is stored', async () => {
    const client = createWorkerClient({ baseUrl: house().url, token: house().deps.config.workerToken });
    const families = FAMILIES.map((family) => ({ family, state: 'misconfigured', reason: 'no balance' }) as const);
    expect(await client.register({ body: { worker: 'box:7', families } })).toEqual({
      data: { engine: 'embedded' },
    });
    expect(await workers(house())).toMatchObject([{ name: 'box:7', alive: true, families, refusals: [] }]);
  });

  test('without the right token it is 401, and nothing is stored', async () => {
    const before = (await workers(house())).map(({ name }) => name);
    const wrong = [
      null,
      'Bearer ',
      'Bearer wrong',
      `Bearer ${house().deps.config.workerToken}x`,
      house().deps.config.workerToken,
      `Bearer ${house().people.owner.key}`,
    ];
    for (const authorization of wrong) {
      const response = await hello(house(), BODY, authorization);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
      expect(response.headers.get('content-type')).toContain('application/problem+json');
    }
    expect((await workers(house())).map(({ name }) => name)).toEqual(before);
    const client = createWorkerClient({ baseUrl: house().url, token: 'wrong' });
    const problem = await refusal(client.register({ body: { worker: 'x', families: [] } }), 'INVALID_CREDENTIAL');
    expect(problem.message).toContain('WORKER_TOKEN');
  });

  test.each([
    [200, BODY],
    [400, { ...BODY, sinceARelease: 'to come' }],
  ])('an answer %i has the version of the worker API', async (status, body) => {
    const response = await hello(house(), body, bearer());
    expect(response.status).toBe(status);
    expect(response.headers.get(WORKER_API_VERSION_HEADER)).toBe(String(WORKER_API_VERSION));
  });

  test('the worker token is valid for the worker API only', async () => {
    const response = await fetch(`${house().url}/api/ping`, { headers: { authorization: bearer() } });
    expect(response.status).toBe(401);
  });

  test.each([
    [{}, '/worker'],
    [{ ...BODY, worker: '' }, '/worker'],
    [{ ...BODY, worker: 'a'.repeat(256) }, '/worker'],
    [{ ...BODY, families: 'all' }, '/families'],
    [{ ...BODY, families: [{ family: 'sora', state: 'live' }] }, '/families/0/family'],
    [{ ...BODY, families: [{ family: 'veo', state: 'on' }] }, '/families/0/state'],
    [{ ...BODY, engine: 'temporal' }, '/engine'],
  ])('the report %o is 400 with its pointers', async (body, pointer) => {
    const response = await hello(house(), body, bearer());
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'INVALID_REQUEST',
      errors: expect.arrayContaining([expect.objectContaining({ pointer })]),
    });
  });

  test('a body that is not JSON is 400', async () => {
    const response = await fetch(`${house().url}/worker/hello`, {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'application/json', authorization: bearer() },
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INVALID_JSON' });
  });

  test('the last state of a repeated family counts', async () => {
    const families = [
      { family: 'minimax', state: 'sandbox' },
      { family: 'minimax', state: 'live' },
    ];
    const response = await hello(house(), { worker: 'box:2', families }, bearer());
    expect(response.status).toBe(200);
    const { data } = await house().people.owner.client.models.list();
    expect(data.find(({ family }) => family === 'minimax')?.provider).toBe('live');
  });

  test('a report without families is accepted', async () => {
    expect((await hello(house(), { worker: 'idle', families: [] }, bearer())).status).toBe(200);
  });

  test('the worker API is in no public document', async () => {
    const document = await (await fetch(`${house().url}/api/openapi.json`)).text();
    expect(document).not.toContain('/worker');
    expect(document).not.toContain('WORKER_TOKEN');
  });
});
