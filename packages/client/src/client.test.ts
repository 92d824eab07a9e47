import { expect, test } from 'vitest';
import { createClient } from './client.ts';
import { ApiProblem } from './problem.ts';
import { json, standIn } from './test/stand-in.ts';
import { createWorkerClient } from './worker.ts';

const ID = '0195c2de-1234-7abc-8def-0123456789ab';
const PAGE = json(200, { data: [], page: { next: null, prev: null } });

test('a call returns the body of the success', async () => {
  await using server = await standIn(json(201, { data: { id: 'DX1' } }));
  const client = createClient({ baseUrl: server.url, token: 'key' });
  expect(await client.folders.create({ params: { id: ID }, body: { name: 'Cuts' } })).toEqual({ data: { id: 'DX1' } });
  expect(server.received).toMatchObject([
    {
      method: 'POST',
      url: `/api/projects/${ID}/folders`,
      headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
      body: '{"name":"Cuts"}',
    },
  ]);
});

test('further headers are asked for before every request and replace none of the client', async () => {
  await using server = await standIn({ status: 204 });
  let span = 0;
  const headers = () => ({
    traceparent: `span-${++span}`,
    Authorization: 'Bearer other',
    'Content-Type': 'text/plain',
  });
  const client = createClient({ baseUrl: server.url, token: 'key', headers });
  const request = { params: { id: ID }, body: {} };
  await client.projects.update(request);
  await client.projects.update(request);
  const own = { authorization: 'Bearer key', 'content-type': 'application/json' };
  expect(server.received.map((received) => received.headers)).toMatchObject([
    { traceparent: 'span-1', ...own },
    { traceparent: 'span-2', ...own },
  ]);
});

test('an answer without content is undefined', async () => {
  await using server = await standIn({ status: 204 });
  const { folders, projects } = createClient({ baseUrl: server.url, token: 'key' });
  expect(await folders.delete({ params: { id: 'DX1' } })).toBeUndefined();
  expect(await projects.delete({ params: { id: ID } })).toBeUndefined();
  expect(await projects.update({ params: { id: ID }, body: {} })).toBeUndefined();
});

test('an action without parameters sends no body and no content type', async () => {
  await using server = await standIn({ status: 204 });
  await createClient({ baseUrl: server.url, token: 'key' }).projects.delete({ params: { id: ID } });
  expect(server.received[0]).toMatchObject({ method: 'POST', body: '' });
  expect(server.received[0]?.headers).not.toHaveProperty('content-type');
});

test('a list is asked for with QUERY and a JSON body', async () => {
  await using server = await standIn(PAGE);
  const client = createClient({ baseUrl: server.url, token: 'key' });
  expect(await client.projects.list({ body: { keyword: 'é' } })).toEqual({
    data: [],
    page: { next: null, prev: null },
  });
  expect(server.received).toMatchObject([
    { method: 'QUERY', url: '/api/projects', headers: { 'content-type': 'application/json' }, body: '{"keyword":"é"}' },
  ]);
});

test('a query parameter is sent as it is written, dots and all', async () => {
  await using server = await standIn(json(200, { data: [], page: { current: 2, hasNext: false } }));
  const client = createClient({ baseUrl: server.url, token: 'key' });
  await client.versions.list({ params: { id: ID }, query: { page: 2, 'sort.type': 'name' } });
  const asked = new URL(server.received[0]?.url ?? '', server.url);
  expect(Object.fromEntries(asked.searchParams)).toEqual({ page: '2', 'sort.type': 'name' });
});

test('an id is encoded in the path', async () => {
  await using server = await standIn(json(200, { data: [] }));
  const client = createClient({ baseUrl: server.url, token: 'key' });
  await client.members.list({ params: { id: '../skills?x=#y' } });
  expect(server.received[0]?.url).toBe('/api/projects/..%2Fskills%3Fx%3D%23y/members');
});

test.each(['', '.', '..'])('the id %j is refused', async (id) => {
  await using server = await standIn(json(200, { data: [] }));
  const client = createClient({ baseUrl: server.url, token: 'key' });
  await expect(client.members.list({ params: { id } })).rejects.toThrow(/params\.id/);
  expect(server.received).toEqual([]);
});

test.each(['', '/', '//'])('a base URL may end with %j', async (ending) => {
  await using server = await standIn(PAGE);
  await createClient({ baseUrl: server.url + ending, token: 'key' }).projects.list({ body: {} });
  expect(server.received[0]?.url).toBe('/api/projects');
});

test('a base URL may have a path', async () => {
  await using server = await standIn(PAGE);
  await createClient({ baseUrl: `${server.url}/review/`, token: 'key' }).projects.list({ body: {} });
  expect(server.received[0]?.url).toBe('/review/api/projects');
});

test('a token function is called before every request', async () => {
  await using server = await standIn(PAGE);
  const tokens = ['first', 'second', 'third'];
  const client = createClient({ baseUrl: server.url, token: async () => tokens.shift() ?? 'none' });
  for (let call = 0; call < 3; call++) await client.projects.list({ body: {} });
  expect(server.received.map(({ headers }) => headers['authorization'])).toEqual([
    'Bearer first',
    'Bearer second',
    'Bearer third',
  ]);
});

test('a failing token function fails the call before it is sent', async () => {
  await using server = await standIn(PAGE);
  const client = createClient({ baseUrl: server.url, token: () => Promise.reject(new Error('logged out')) });
  await expect(client.ping.ping()).rejects.toThrow('logged out');
  expect(server.received).toEqual([]);
});

test('a text answer is a string', async () => {
  await using server = await standIn({ status: 200, headers: { 'content-type': 'text/markdown' }, body: '# Skill' });
  const client = createClient({ baseUrl: server.url, token: 'key' });
  expect(await client.skills.export({ params: { id: 'SK1' } })).toBe('# Skill');
});

test('a file is a Blob; a page that a proxy sends in its place is a problem', async () => {
  const csv = { 'content-type': 'text/csv', 'content-disposition': 'attachment; filename="cut.csv"' };
  await using server = await standIn(({ url = '' }) =>
    url.includes('FX1')
      ? { status: 200, headers: csv, body: 'Position,Comment' }
      : { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Sign in</h1>' },
  );
  const client = createClient({ baseUrl: server.url, token: 'key', retries: 0 });
  const exported = (id: string) => client.comments.exportOnFile({ params: { id } });
  expect(await (await exported('FX1')).text()).toBe('Position,Comment');
  await expect(exported('FX2')).rejects.toBeInstanceOf(ApiProblem);
});

test('the worker client calls the worker API', async () => {
  await using server = await standIn(json(200, { data: { engine: 'embedded' } }));
  const client = createWorkerClient({ baseUrl: server.url, token: 'shared' });
  expect(await client.register({ body: { worker: 'box', families: [] } })).toEqual({ data: { engine: 'embedded' } });
  expect(server.received).toMatchObject([
    { method: 'POST', url: '/worker/hello', headers: { authorization: 'Bearer shared' } },
  ]);
});
