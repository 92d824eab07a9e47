import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createApp } from '../app.ts';
import { newApiKey } from '../credentials/api-key.ts';
import { listen } from '../listen.ts';
import { beginUpload } from '../storage/test/upload.ts';
import { json, onEachDatabase } from '../test/house.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

onEachDatabase((house) => {
  const ping = (requestId: string) =>
    house().request('owner', 'GET', '/api/ping', { headers: { 'x-request-id': requestId } });

  test.each([randomUUID(), 'a', 'deploy-7:step_2.retry', 'x'.repeat(128)])(
    'a valid X-Request-Id is returned: %s',
    async (requestId) => {
      expect((await ping(requestId)).headers.get('x-request-id')).toBe(requestId);
    },
  );

  test.each(['', 'x'.repeat(129), 'two words', 'a, b', '<script>', '{"a":1}', 'ü', '$(date)', '../x'])(
    'an invalid one is replaced: %s',
    async (requestId) => {
      expect((await ping(requestId)).headers.get('x-request-id')).toMatch(UUID);
    },
  );

  test('a request without one gets a new one each time', async () => {
    const ids = await Promise.all(
      Array.from({ length: 5 }, async () =>
        (await house().request(null, 'GET', '/healthz')).headers.get('x-request-id'),
      ),
    );
    expect(new Set(ids).size).toBe(5);
    for (const id of ids) expect(id).toMatch(UUID);
  });

  test.each([
    ['owner', 'GET', '/api/ping', 200],
    [null, 'GET', '/api/ping', 401],
    [null, 'GET', '/api/nothing', 404],
    [null, 'PUT', '/api/ping', 405],
    [null, 'OPTIONS', '/api/ping', 204],
    [null, 'GET', '/healthz', 200],
    [null, 'GET', '/docs', 200],
    [null, 'GET', '/api/%', 404],
  ] as const)('%s %s %s: has the headers of every response, and no others', async (person, method, path, status) => {
    const { status: answered, headers } = await house().request(person, method, path);
    expect(answered).toBe(status);
    expect(headers.get('x-request-id')).toMatch(UUID);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('etag')).toBeNull();
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  describe('the log', () => {
    async function logged(calls: (url: string) => Promise<void>): Promise<string> {
      let text = '';
      const log = pino(
        { level: 'trace' },
        new Writable({
          write(chunk: Buffer, _encoding, done) {
            text += chunk.toString();
            done();
          },
        }),
      );
      {
        await using listening = await listen(
          createApp({ ...house().deps, log, metrics: new Registry() }),
          { host: '127.0.0.1', port: 0 },
          1,
        );
        await calls(`http://127.0.0.1:${listening.port}`);
      }
      return text;
    }

    test('has one line for each request, with its id, operation and status', async () => {
      const { key } = house().people.owner;
      const text = await logged(async (url) => {
        await fetch(`${url}/api/ping`, { headers: { authorization: `Bearer ${key}`, 'x-request-id': 'mine' } });
      });
      const lines = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines).toMatchObject([
        { requestId: 'mine', operation: 'ping.ping', status: 200, msg: 'GET /api/ping 200' },
      ]);
    });

    test('has status 499 for a client that disconnects before its response', async () => {
      const { storage } = house().deps;
      const partUrl = await storage.partUrl(await beginUpload(storage), { partNumber: 1, size: 1000 }, 60);
      const { pathname, search } = new URL(partUrl);
      const text = await logged(async (url) => {
        const part = request(`${url}${pathname}${search}`, { method: 'PUT', headers: { 'content-length': 1000 } });
        part.on('error', () => {}).write(Buffer.alloc(500), () => part.destroy());
        await new Promise((resolve) => part.on('close', resolve));
      });
      expect(text).toContain('"operation":"blobs.putPart","status":499');
    });

    test('never contains a key, a query string or a body', async () => {
      const { projectId } = house();
      const { key } = await house().withScopes('owner', ['folders:write']);
      const unknown = newApiKey();
      const text = await logged(async (url) => {
        const call = (token: string, path: string, init: RequestInit = {}) =>
          fetch(url + path, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
        await call(key, '/api/ping?signature=hidden-query');
        await call(unknown, '/api/ping');
        await call(`${key}x`, '/api/ping');
        await call(key, '/api/projects/%');
        const post = { method: 'POST', ...json({ name: 'hidden-body' }, { 'idempotency-key': 'hidden-key' }) };
        await call(key, `/api/projects/${projectId}/folders`, post);
        await call(key, `/api/projects/${projectId}/folders`, { ...post, body: '{"name":"hidden-body' });
      });
      expect(text.trim().split('\n')).toHaveLength(6);
      for (const secret of [key, unknown, 'hidden-query', 'hidden-body', 'hidden-key', 'prs_k_']) {
        expect(text).not.toContain(secret);
      }
    });
  });
});
