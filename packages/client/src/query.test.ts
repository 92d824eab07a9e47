import { describe, expect, test } from 'vitest';
import { type ClientOptions, createClient } from './client.ts';
import { type Answer, json, type Outcome, refused, type StandIn, standIn } from './test/stand-in.ts';

const PAGE = json(200, { data: [], page: { next: null, prev: null } });

/** A proxy that refuses QUERY. */
const refusing =
  (refusal: Answer, otherwise: Outcome = PAGE) =>
  ({ method }: { method: string | undefined }) =>
    method === 'QUERY' ? refusal : otherwise;
const clientOf = (server: StandIn, options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: server.url, token: 'key', retries: 0, ...options });
const methodsOf = (server: StandIn) =>
  server.received.map(({ method, headers }) => `${method} ${headers['x-http-method-override'] ?? ''}`.trim());

describe('QUERY', () => {
  test.each([
    ['405', { status: 405, headers: { allow: 'GET, POST' } }],
    ['501', { status: 501, headers: { 'content-type': 'text/html' }, body: '<h1>Not implemented</h1>' }],
    ['400', { status: 400 }],
    ['403', { status: 403, headers: { 'content-type': 'text/html' }, body: '<h1>Forbidden</h1>' }],
  ])('falls back to POST for all later calls after a proxy answers with %s', async (_, refusal) => {
    await using server = await standIn(refusing(refusal));
    const client = clientOf(server);
    await client.projects.list({ body: { keyword: 'film' } });
    await client.files.list({ params: { id: 'x' } });
    expect(methodsOf(server)).toEqual(['QUERY', 'POST QUERY', 'POST QUERY']);
    expect(server.received.map(({ body }) => body)).toEqual(['{"keyword":"film"}', '{"keyword":"film"}', '{}']);
  });

  test('does not fall back if the service itself refuses the request', async () => {
    await using server = await standIn(refusing(refused(400, 'INVALID_CURSOR')));
    await expect(clientOf(server).projects.list()).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
    expect(methodsOf(server)).toEqual(['QUERY']);
  });

  test('tries QUERY again if the POST fails too', async () => {
    await using server = await standIn(refusing({ status: 405 }, { status: 405 }));
    const client = clientOf(server);
    for (let call = 0; call < 2; call++) await expect(client.projects.list()).rejects.toMatchObject({ status: 405 });
    expect(methodsOf(server)).toEqual(['QUERY', 'POST QUERY', 'QUERY', 'POST QUERY']);
  });

  test('is sent as a POST with the option override', async () => {
    await using server = await standIn(PAGE);
    await clientOf(server, { query: 'override' }).projects.list();
    expect(methodsOf(server)).toEqual(['POST QUERY']);
  });
});
