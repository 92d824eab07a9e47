import { expect, test } from 'vitest';
import { createClient } from './client.ts';
import { ApiProblem } from './problem.ts';
import { type Answer, json, standIn } from './test/stand-in.ts';

const PROBLEM = {
  type: '/problems/invalid-request',
  title: 'The request is not valid',
  status: 400,
  code: 'INVALID_REQUEST',
  detail: '1 field is not valid.',
  instance: '/api/ping',
  requestId: 'abc-123',
  errors: [{ pointer: '/name', code: 'TOO_LONG', message: 'At most 64 characters.' }],
};

async function problemFrom(answer: Answer): Promise<ApiProblem> {
  await using server = await standIn(answer);
  const outcome = await createClient({ baseUrl: server.url, token: 'key', retries: 0 })
    .ping.ping()
    .catch((error: unknown) => error);
  if (!(outcome instanceof ApiProblem)) throw new Error(`not a problem: ${String(outcome)}`);
  return outcome;
}

const html = (status: number, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'text/html', ...headers },
  body: '<html><h1>Bad gateway</h1></html>',
});

test('a problem has the code, status, field errors and request id', async () => {
  const problem = await problemFrom(json(400, PROBLEM, { 'content-type': 'application/problem+json' }));
  expect(problem).toBeInstanceOf(Error);
  expect(problem).toMatchObject({
    name: 'ApiProblem',
    message: '1 field is not valid.',
    status: 400,
    code: 'INVALID_REQUEST',
    errors: PROBLEM.errors,
    requestId: 'abc-123',
    retryAfter: null,
  });
});

test('a problem without field errors has an empty list', async () => {
  const { errors: _, ...plain } = PROBLEM;
  expect((await problemFrom(json(400, plain))).errors).toEqual([]);
});

test('retryAfter is a number of seconds', async () => {
  const limited = { ...PROBLEM, type: '/problems/rate-limited', status: 429, code: 'RATE_LIMITED' };
  expect(await problemFrom(json(429, limited, { 'retry-after': '42' }))).toMatchObject({
    code: 'RATE_LIMITED',
    retryAfter: 42,
  });
});

test("a proxy's HTML page is a problem with its status and request id", async () => {
  expect(await problemFrom(html(502, { 'x-request-id': 'from-the-proxy' }))).toMatchObject({
    status: 502,
    code: 'INTERNAL',
    errors: [],
    requestId: 'from-the-proxy',
    retryAfter: null,
    message: expect.stringContaining('502'),
  });
  expect((await problemFrom(html(502))).requestId).toBeNull();
});

test.each([
  [404, 'NOT_FOUND'],
  [413, 'BODY_TOO_LARGE'],
  [429, 'RATE_LIMITED'],
  [503, 'NOT_READY'],
  [418, 'INTERNAL'],
])("a proxy's %i has the code %s", async (status, code) => {
  expect(await problemFrom(html(status))).toMatchObject({ status, code });
});

test("a proxy's JSON is not read as a problem document", async () => {
  expect(await problemFrom(json(503, { code: 'SOMETHING', message: 'down' }, { 'retry-after': '5' }))).toMatchObject({
    status: 503,
    code: 'NOT_READY',
    retryAfter: 5,
    errors: [],
  });
});

test('an empty error answer is a problem', async () => {
  expect(await problemFrom({ status: 500 })).toMatchObject({ status: 500, code: 'INTERNAL' });
});

test('a Retry-After with a date gives no retryAfter', async () => {
  const answer = html(503, { 'retry-after': 'Wed, 21 Oct 2037 07:28:00 GMT' });
  expect((await problemFrom(answer)).retryAfter).toBeNull();
});

test('a failed connection throws a TypeError, not an ApiProblem', async () => {
  const server = await standIn({ status: 200 });
  await server[Symbol.asyncDispose]();
  const error = await createClient({ baseUrl: server.url, token: 'key', retries: 0 })
    .ping.ping()
    .catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(TypeError);
});
