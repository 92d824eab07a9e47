import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type ClientOptions, createClient } from './client.ts';
import { ApiProblem } from './problem.ts';
import { inTurn, json, type Outcome, refused, type StandIn, standIn } from './test/stand-in.ts';
import { createWorkerClient } from './worker.ts';

const ID = '0195c2de-1234-7abc-8def-0123456789ab';
const PONG = json(200, { data: { pong: true } });
const CREATED = json(201, { data: { id: 'DX1' } });
const PAGE = json(200, { data: [], page: { next: null, prev: null } });
const BAD_GATEWAY: Outcome = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' };
const BUSY = refused(429, 'RATE_LIMITED', { 'retry-after': '42' });

/** Delays are recorded instead of waited for. */
vi.mock(import('./pause.ts'), () => ({
  pause: async (milliseconds) => void pauses.push(milliseconds),
}));
let pauses: number[] = [];
beforeEach(() => {
  pauses = [];
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => vi.restoreAllMocks());

const clientOf = (server: StandIn, options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: server.url, token: 'key', ...options });
const folder = { params: { id: ID }, body: { name: 'Cuts' } };
const keysOf = (server: StandIn) => server.received.map(({ headers }) => headers['idempotency-key']);

describe('retries', () => {
  const PASSING: [string, Outcome][] = [
    ['a broken connection', 'reset'],
    ['408', refused(408, 'REQUEST_TIMEOUT')],
    ['502', BAD_GATEWAY],
    ['503', refused(503, 'NOT_READY')],
    ['504', { status: 504 }],
    ['429', refused(429, 'RATE_LIMITED')],
  ];
  test.each(PASSING)('%s, for every method', async (_, outcome) => {
    for (const [answer, call] of [
      [PONG, (client) => client.ping.ping()],
      [PAGE, (client) => client.projects.list({ body: {} })],
      [CREATED, (client) => client.folders.create(folder)],
      [{ status: 204 }, (client) => client.folders.update({ params: { id: 'DX1' }, body: { name: 'B' } })],
      [{ status: 204 }, (client) => client.folders.delete({ params: { id: 'DX1' } })],
    ] satisfies [Outcome, (client: ReturnType<typeof clientOf>) => Promise<unknown>][]) {
      await using server = await standIn(inTurn(outcome, outcome, answer));
      await call(clientOf(server));
      expect(server.received).toHaveLength(3);
      expect(new Set(server.received.map(({ method, url, body }) => `${method} ${url} ${body}`)).size).toBe(1);
    }
  });

  test.each([
    ['400', refused(400, 'INVALID_REQUEST')],
    ['401', refused(401, 'EXPIRED_CREDENTIAL')],
    ['404', refused(404, 'NOT_FOUND')],
    ['409 of the state', refused(409, 'FOLDER_NOT_EMPTY')],
    ['422', refused(422, 'IDEMPOTENCY_KEY_REUSED')],
    ['500', refused(500, 'INTERNAL')],
    ['507', refused(507, 'STORAGE_FULL')],
  ])('not %s', async (_, outcome) => {
    await using server = await standIn(outcome);
    await expect(clientOf(server).folders.create(folder)).rejects.toThrow(ApiProblem);
    expect(server.received).toHaveLength(1);
  });

  test('IDEMPOTENCY_IN_PROGRESS until the first request has ended', async () => {
    const running = refused(409, 'IDEMPOTENCY_IN_PROGRESS', { 'retry-after': '1' });
    await using server = await standIn(inTurn(running, ...Array.from({ length: 59 }, () => running), CREATED));
    await clientOf(server).folders.create(folder);
    expect(server.received).toHaveLength(61);
    expect(new Set(keysOf(server)).size).toBe(1);
  });

  test('not a POST of the worker API, which has no idempotency keys', async () => {
    await using server = await standIn('reset');
    const worker = createWorkerClient({ baseUrl: server.url, token: 'shared' });
    await expect(worker.register({ body: { worker: 'box', families: [] } }, { retries: 3 })).rejects.toThrow(TypeError);
    expect(server.received).toHaveLength(1);
    expect(keysOf(server)).toEqual([undefined]);
  });

  test('nothing with retries 0', async () => {
    await using server = await standIn(BUSY);
    await expect(clientOf(server, { retries: 0 }).ping.ping()).rejects.toMatchObject({ retryAfter: 42 });
    await expect(clientOf(server).ping.ping({}, { retries: 0 })).rejects.toMatchObject({ retryAfter: 42 });
    expect(server.received).toHaveLength(2);
    expect(pauses).toEqual([]);
  });
});

describe('the delay', () => {
  test('doubles with full jitter, up to the maximum of retries', async () => {
    await using server = await standIn('reset');
    await expect(clientOf(server).ping.ping()).rejects.toThrow(TypeError);
    expect(pauses).toEqual([150, 300, 600, 1200, 2400]);
    pauses = [];
    await expect(clientOf(server, { retries: 8 }).ping.ping()).rejects.toThrow(TypeError);
    expect(pauses.slice(5)).toEqual([4800, 5000, 5000]);
  });

  test('is at least Retry-After', async () => {
    await using server = await standIn(inTurn(BUSY, refused(503, 'NOT_READY', { 'retry-after': '0' }), PONG));
    await clientOf(server).ping.ping();
    expect(pauses).toEqual([42_150, 1150]);
  });

  test('is at most two minutes in total for Retry-After', async () => {
    await using server = await standIn(BUSY);
    await expect(clientOf(server).ping.ping()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(server.received).toHaveLength(3);
    await using later = await standIn(refused(503, 'NOT_READY', { 'retry-after': '3600' }));
    await expect(clientOf(later).ping.ping()).rejects.toMatchObject({ retryAfter: 3600 });
    expect(later.received).toHaveLength(1);
  });
});

describe('Idempotency-Key', () => {
  test('is unique for each POST, PATCH and DELETE, and the same for all attempts', async () => {
    await using server = await standIn(inTurn('reset', BAD_GATEWAY, CREATED));
    const client = clientOf(server);
    await client.folders.create(folder);
    await client.folders.create(folder);
    const [first, second, third, other] = keysOf(server);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect([second, third]).toEqual([first, first]);
    expect(other).toMatch(/^[0-9a-f]{32}$/);
    expect(other).not.toBe(first);
    await using deleting = await standIn(inTurn('reset', { status: 204 }));
    await clientOf(deleting).files.delete({ params: { id: 'FX1' } });
    expect(new Set(keysOf(deleting))).toEqual(new Set([expect.stringMatching(/^[0-9a-f]{32}$/)]));
    expect(deleting.received).toHaveLength(2);
  });

  test('is absent for other methods, and for a QUERY sent as a POST', async () => {
    await using server = await standIn(() => PAGE);
    const client = clientOf(server, { query: 'override' });
    await client.projects.list();
    expect(keysOf(server)).toEqual([undefined]);
  });

  test("is the caller's, if given", async () => {
    await using server = await standIn(CREATED);
    await clientOf(server).folders.create(folder, { idempotencyKey: 'order-7' });
    expect(keysOf(server)).toEqual(['order-7']);
  });
});

describe('a DELETE that answers 404', () => {
  const gone = refused(404, 'NOT_FOUND');
  const remove = (server: StandIn) => clientOf(server).folders.delete({ params: { id: 'DX1' } });

  test.each(['reset', BAD_GATEWAY] as const)('succeeds if the answer to an earlier attempt was lost', async (lost) => {
    await using server = await standIn(inTurn(lost, gone));
    expect(await remove(server)).toBeUndefined();
  });

  test('fails otherwise', async () => {
    await using server = await standIn(inTurn(refused(429, 'RATE_LIMITED'), gone));
    await expect(remove(server)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('time and abort', () => {
  test('an attempt that times out is retried', async () => {
    await using server = await standIn(inTurn('silence', PONG));
    expect(await clientOf(server, { timeoutMs: 500 }).ping.ping()).toEqual({ data: { pong: true } });
    await using silent = await standIn('silence');
    const call = clientOf(silent).ping.ping({}, { timeoutMs: 500, retries: 1 });
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(silent.received).toHaveLength(2);
  });

  test('the wait of a request is added to the timeout', async () => {
    const limits = vi.spyOn(AbortSignal, 'timeout');
    await using server = await standIn(json(200, { data: {} }));
    await clientOf(server, { timeoutMs: 1000 }).files.get({ params: { id: 'FX1' }, query: { wait: 60 } });
    expect(limits.mock.calls).toEqual([[61_000]]);
  });

  test('an aborted call rejects with the reason', async () => {
    await using silent = await standIn('silence');
    const leaving = new AbortController();
    const call = clientOf(silent).ping.ping({}, { signal: leaving.signal });
    await expect.poll(() => silent.received).toHaveLength(1);
    leaving.abort(new Error('the page was left'));
    await expect(call).rejects.toThrow('the page was left');
    await expect(clientOf(silent).ping.ping({}, { signal: leaving.signal })).rejects.toThrow('the page was left');
    expect(silent.received).toHaveLength(1);
  });

  test('the token function is called before each attempt', async () => {
    await using server = await standIn(inTurn('reset', PONG));
    let asked = 0;
    await clientOf(server, { token: () => `token-${++asked}` }).ping.ping();
    expect(server.received.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer token-1',
      'Bearer token-2',
    ]);
  });
});
