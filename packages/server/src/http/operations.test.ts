import { contract, data, NO_BODY, type Route } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Attempt } from './idempotency.ts';
import { carryOut, pick, validate } from './operations.ts';

const route: Route = {
  method: 'POST',
  path: '/api/echo',
  summary: 'Return the text',
  query: z.strictObject({ times: z.coerce.number().optional() }),
  body: z.strictObject({ text: z.string() }),
  responses: { 200: data(z.object({ text: z.string() })) },
  metadata: { tier: 'default', scopes: [], subject: null, roles: [] },
};

const attempt: Attempt = {
  replayed: false,
  write: () => Promise.reject(new Error('These handlers write nothing.')),
  release: async () => {},
};
const call = (given: { query?: unknown; body?: unknown }, steps: string[] = []) => ({
  authorize: async () => {
    steps.push('authorize');
    return { subject: null };
  },
  read: async () => {
    steps.push('read');
    return given;
  },
  queryPointer: '#query' as const,
  begin: async () => {
    steps.push('begin');
    return attempt;
  },
  disconnected: () => new AbortController().signal,
});
const echo = (answer: unknown, declared = route) => ({
  name: 'echo.echo',
  route: declared,
  handler: async () => answer,
  respond: validate,
  changes: true,
});

test('authorizes, reads and parses before the handler runs', async () => {
  const steps: string[] = [];
  const handler = async (request: { query: unknown; body: unknown }) => {
    steps.push('handler');
    return { data: request.body };
  };
  const answer = await carryOut({ ...echo(null), handler }, call({ body: { text: 'a' }, query: {} }, steps));
  expect(answer).toEqual({ data: { text: 'a' } });
  expect(steps).toEqual(['authorize', 'read', 'begin', 'handler']);
});

test('reports the errors of the query and of the body together, before an attempt begins', async () => {
  const steps: string[] = [];
  const refused = carryOut(echo(null), call({ query: { times: 'x' }, body: { txt: 1 } }, steps));
  await expect(refused).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    errors: [{ pointer: '#query/times' }, { pointer: '/text' }, { pointer: '/txt' }],
  });
  expect(steps).toEqual(['authorize', 'read']);
});

describe.each([
  ['validated', validate],
  ['in production', pick],
])('a response, %s,', (_mode, respond) => {
  const answered = (answer: unknown, declared = route) =>
    carryOut({ ...echo(answer, declared), respond }, call({ query: {}, body: { text: 'a' } }));

  test('has no field that its schema does not have', async () => {
    expect(await answered({ secret: 'b', data: { text: 'a', secret: 'b' } })).toEqual({ data: { text: 'a' } });
  });

  test('has the ETag of the declared fields, in the order of the schema', async () => {
    const Declared = data(z.object({ text: z.string(), id: z.guid().toLowerCase() }));
    const id = '0192F0C1-2345-7ABC-8DEF-0123456789AB';
    const answer = await answered({ data: { id, secret: 'b', text: 'a' } }, { ...route, responses: { 200: Declared } });
    expect(JSON.stringify(answer)).toBe(JSON.stringify({ data: { text: 'a', id: id.toLowerCase() } }));
  });

  test('is nothing if the route answers without a body', async () => {
    expect(await answered('a', { ...route, responses: { 204: NO_BODY } })).toBeUndefined();
  });

  test('is the text of a route that answers with another type', async () => {
    const { responses } = contract.skills.export;
    expect(await answered('# A', { ...route, responses })).toBe('# A');
  });
});

test('fails if the answer does not match the response schema', async () => {
  const failed = carryOut(echo({ data: { text: 1 } }), call({ query: {}, body: { text: 'a' } }));
  await expect(failed).rejects.toThrow('validation failed');
});
