import { WORKER_API_VERSION, WORKER_API_VERSION_HEADER } from '@review/contract';
import { expect, test } from 'vitest';
import { OlderServerError, ServerVersion } from './server-version.ts';

const PROBLEM = 'application/problem+json';

function answering() {
  const changes: boolean[] = [];
  let next = new Response();
  const version = new ServerVersion({ fetch: async () => next, onChange: (isOlder) => void changes.push(isOlder) });
  const answer = (status: number, type: string | null, api?: number) => {
    const headers = new Headers(type === null ? {} : { 'content-type': type });
    if (api !== undefined) headers.set(WORKER_API_VERSION_HEADER, String(api));
    next = new Response(null, { status, headers });
    return version.fetch('http://server/worker/heartbeat');
  };
  return { version, changes, answer };
}

test('an answer of an older server counts until three answers of a current one have followed', async () => {
  const { version, changes, answer } = answering();
  await answer(204, null, WORKER_API_VERSION);
  expect(changes).toEqual([]);
  await answer(204, null, WORKER_API_VERSION - 1);
  // Two servers behind one proxy answer in turns.
  for (let turn = 0; turn < 5; turn++) {
    await answer(204, null, WORKER_API_VERSION);
    await answer(204, null, WORKER_API_VERSION - 1);
  }
  expect([version.isOlder, changes]).toEqual([true, [true]]);
  for (let turn = 0; turn < 3; turn++) await answer(204, null, WORKER_API_VERSION + 1);
  expect([version.isOlder, changes]).toEqual([false, [true, false]]);
});

test.each([
  ['a success', 200, 'application/json', true],
  ['a success without content', 204, null, true],
  ['a refused token', 401, PROBLEM, true],
  ['a rate limit', 429, PROBLEM, false],
  ['an unavailable server', 503, PROBLEM, false],
  ['a gateway error of a proxy', 502, 'text/html', false],
  ['a page of a proxy', 200, 'text/html', false],
])('%s (%i, %s) without a version: older is %s', async (_, status, type, isOlder) => {
  const { version, answer } = answering();
  expect((await answer(status, type)).status).toBe(status);
  expect(version.isOlder).toBe(isOlder);
});

test('what an older server does not know is refused as older, but an ended generation is still 404', async () => {
  const { answer } = answering();
  await expect(answer(400, PROBLEM, 0)).rejects.toThrow(OlderServerError);
  await expect(answer(404, PROBLEM)).rejects.toThrow(OlderServerError);
  expect((await answer(404, PROBLEM, 0)).status).toBe(404);
  expect((await answer(400, PROBLEM, WORKER_API_VERSION)).status).toBe(400);
});
