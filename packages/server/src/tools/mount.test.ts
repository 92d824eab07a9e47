import { contractTools } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DIALECTS, json, onEachDatabase, openHouse } from '../test/house.ts';
import { problemIn } from '../test/problem-in.ts';
import { CURRENT, FORMER } from './test/clients.ts';
import { currentRequest, formerRequest, messageIn, post, refusedAs } from './test/wire.ts';

const PUBLIC = 'https://review.example.com';
const PAGE = 'https://tools.example.com';
const REQUESTS = { [CURRENT]: currentRequest, [FORMER]: formerRequest };
const Called = z.object({
  content: z.array(z.object({ text: z.string() })),
  structuredContent: z.unknown().optional(),
});
const whoami = { name: 'whoami', arguments: {} };

onEachDatabase(
  (house) => {
    const owner = () => house().people.owner.key;
    const ask = (init: RequestInit, headers: Record<string, string> = {}) =>
      post(house(), owner(), { ...init, headers: { ...init.headers, ...headers } });

    describe.each(Object.entries(REQUESTS))('%s', (version, request) => {
      test('tools are listed and called without a handshake', async () => {
        const listed = await messageIn(await ask(request('tools/list')));
        expect(listed.result?.['tools']).toHaveLength(contractTools().length);
        const called = await messageIn(await ask(request('tools/call', whoami)));
        const { content, structuredContent } = Called.parse(called.result);
        // Not both as text and as structured content.
        const whole = version === CURRENT ? structuredContent : JSON.parse(content[0]?.text ?? '');
        expect(whole).toMatchObject({ data: { pong: true } });
        expect(JSON.stringify(called.result).match(/pong/g)).toHaveLength(1);
      });

      test('answers as JSON or as an event stream, without a session', async () => {
        const answer = await ask(request('tools/list'));
        expect(answer.headers.get('content-type')).toMatch(
          version === CURRENT ? /^application\/json/ : /^text\/event-stream/,
        );
        expect(answer.headers.get('mcp-session-id')).toBeNull();
        expect(answer.headers.get('x-request-id')).toMatch(/./);
        await answer.text();
      });

      test('without a valid credential: HTTP 401 with the address of the resource metadata', async () => {
        const metadata = `${PUBLIC}/.well-known/oauth-protected-resource/mcp`;
        const missing = await post(house(), null, request('tools/list'));
        expect(await refusedAs(missing, 'MISSING_CREDENTIAL')).toMatchObject({ id: null, rpcCode: -32600 });
        expect(missing.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${metadata}"`);
        const bad = await post(house(), 'nonsense', request('tools/call', whoami));
        await refusedAs(bad, 'INVALID_CREDENTIAL');
        expect(bad.headers.get('www-authenticate')).toContain(`resource_metadata="${metadata}", error="invalid_token"`);
        expect((await fetch(new URL(new URL(metadata).pathname, house().url))).status).toBe(200);
      });

      test('a missing scope is HTTP 403 that names it, whether or not the subject exists', async () => {
        const { key } = await house().withScopes('owner', ['skills:read']);
        for (const id of [house().projectId, 'nonsense', undefined]) {
          const given = { name: 'create_folder', arguments: { id, name: 'A' } };
          const answer = await post(house(), key, request('tools/call', given));
          expect(await refusedAs(answer, 'INSUFFICIENT_SCOPE')).toMatchObject({ id: 1, rpcCode: -32600 });
          expect(answer.headers.get('www-authenticate')).toBe(
            'Bearer error="insufficient_scope", scope="folders:write"',
          );
        }
        const uri = 'review://files/FX00000000000000000000';
        await refusedAs(await post(house(), key, request('resources/read', { uri })), 'INSUFFICIENT_SCOPE');
      });

      test('extra fields of a message do not bypass the guard', async () => {
        const { key } = await house().withScopes('owner', ['comments:read']);
        const id = house().projectId;
        const file = 'review://files/FX00000000000000000000';
        for (const beside of [{ uri: 5 }, { uri: null }, { uri: {} }, { taskId: [] }, { _meta: {}, cursor: 7 }]) {
          const call = { name: 'create_folder', arguments: { id, name: 'Past the guard' }, ...beside };
          await refusedAs(await post(house(), key, request('tools/call', call)), 'INSUFFICIENT_SCOPE');
        }
        for (const name of [5, null, {}, ['create_folder']]) {
          await refusedAs(
            await post(house(), key, request('resources/read', { uri: file, name })),
            'INSUFFICIENT_SCOPE',
          );
        }
        const { client } = house().people.owner;
        expect((await client.folders.list({ params: { id } })).data).toEqual([]);
      });

      test('an unknown tool or method is a protocol error', async () => {
        const tool = await messageIn(await ask(request('tools/call', { name: 'nothing', arguments: {} })));
        expect(tool.error?.code).toBe(-32602);
        const method = await messageIn(await ask(request('prompts/list')));
        expect(method.error?.code).toBe(-32601);
      });
    });

    test('the guard checks each of several messages in one request, and refuses all if one fails', async () => {
      const { key } = await house().withScopes('owner', ['folders:write']);
      const batch = (...names: string[]) =>
        json(
          names.map((name, id) => ({
            jsonrpc: '2.0',
            id,
            method: 'tools/call',
            params: { name, arguments: { id: house().projectId, name: 'In a batch' } },
          })),
          { accept: 'application/json, text/event-stream' },
        );
      await refusedAs(await post(house(), key, batch('create_folder', 'list_skills')), 'INSUFFICIENT_SCOPE');
      const folders = await house().people.owner.client.folders.list({ params: { id: house().projectId } });
      expect(folders.data).toEqual([]);
    });

    test('the headers must match the body', async () => {
      const answer = await ask(currentRequest('tools/call', whoami), { 'mcp-name': 'list_skills' });
      expect([answer.status, (await messageIn(answer)).error?.code]).toEqual([400, -32020]);
    });

    describe('the body', () => {
      const plain = (body: string, type = 'application/json') => ({ body, headers: { 'content-type': type } });

      test('is JSON, in UTF-8, not too large', async () => {
        await refusedAs(await ask(plain('{')), 'INVALID_JSON');
        await refusedAs(await ask(plain('{}', 'text/plain')), 'UNSUPPORTED_MEDIA_TYPE');
        await refusedAs(await ask(plain('{}', 'application/json; charset=utf-16')), 'UNSUPPORTED_MEDIA_TYPE');
        await refusedAs(await ask(plain(`"${'x'.repeat(1024 * 1024)}"`)), 'BODY_TOO_LARGE');
      });

      test('is not read without a credential', async () => {
        await refusedAs(await post(house(), null, plain('{')), 'MISSING_CREDENTIAL');
      });

      test.each([
        '{}',
        '[]',
        '7',
        'null',
        '{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
        '{"jsonrpc":"2.0","method":7}',
      ])('that is not a protocol message is 400: %s', async (body) => {
        const answer = await ask(plain(body), { accept: 'application/json, text/event-stream' });
        expect(answer.status).toBe(400);
        expect((await messageIn(answer)).error?.code).toBeLessThan(0);
      });
    });

    test.each(['GET', 'DELETE', 'PUT'])('%s is 405: there are no sessions', async (method) => {
      const answer = await house().request('owner', method, '/mcp');
      await refusedAs(answer, 'METHOD_NOT_ALLOWED');
      expect(answer.headers.get('allow')).toBe('OPTIONS, POST');
    });

    describe('the address', () => {
      const from = (headers: Record<string, string>) => ask(currentRequest('tools/list'), headers);

      test.each([PUBLIC, PAGE, 'http://localhost:5173', 'http://127.0.0.1:8080', 'http://[::1]:1'])(
        'pages of %s are allowed',
        async (origin) => {
          expect((await from({ origin })).status).toBe(200);
        },
      );

      test.each([
        'https://evil.example.com',
        'null',
        'http://localhost.evil.example.com',
        'https://review.example.com:444',
        '',
      ])('pages of "%s" are refused', async (origin) => {
        await refusedAs(await from({ origin }), 'ADDRESS_NOT_ALLOWED');
      });

      /** fetch writes the Host header itself. */
      const asHost = async (host: string): Promise<number> => {
        const { request } = await import('node:http');
        const { headers, body } = currentRequest('tools/list');
        const { hostname, port } = new URL(house().url);
        return new Promise((resolve, reject) => {
          const head = { ...Object.fromEntries(new Headers(headers)), host, authorization: `Bearer ${owner()}` };
          request({ hostname, port, path: '/mcp', method: 'POST', headers: head }, (answer) => {
            answer.resume();
            resolve(answer.statusCode ?? 0);
          })
            .on('error', reject)
            .end(body);
        });
      };

      test('only known hosts are allowed', async () => {
        for (const host of ['review.example.com', 'localhost:3000', '127.0.0.1', '[::1]:80', 'Review.Internal:8080']) {
          expect([host, await asHost(host)]).toEqual([host, 200]);
        }
        for (const host of ['evil.example.com', 'review.example.com.evil.example.com', '10.0.0.1', 'a b']) {
          expect([host, await asHost(host)]).toEqual([host, 403]);
        }
      });
    });
  },
  { PUBLIC_URL: PUBLIC, CORS_ORIGINS: PAGE, MCP_HOSTS: 'review.internal' },
);

describe.each(DIALECTS)('%s', (dialect) => {
  test('a tool and its route share a rate limit; over it, HTTP 429 has Retry-After', async () => {
    await using house = await openHouse(dialect, { RATE_LIMITS: 'tier-3=3' });
    const { key } = house.people.owner;
    const given = { name: 'create_folder', arguments: { id: house.projectId, name: 'A' } };
    const byRoute = () =>
      house.request('owner', 'POST', `/api/projects/${house.projectId}/folders`, json({ name: 'A' }));
    expect((await byRoute()).status).toBe(201);
    const byTool = await post(house, key, currentRequest('tools/call', given));
    expect(byTool.headers.get('ratelimit')).toMatch(/^"tier-3";r=1;t=\d+$/);
    expect((await post(house, key, formerRequest('tools/call', given))).status).toBe(200);
    await problemIn(await byRoute(), 'RATE_LIMITED');
    for (const request of [currentRequest, formerRequest]) {
      const refused = await post(house, key, request('tools/call', given));
      await refusedAs(refused, 'RATE_LIMITED');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await post(house, key, currentRequest('tools/list'))).status).toBe(200);
  });

  test('refused credentials are counted by address', async () => {
    await using house = await openHouse(dialect, { RATE_LIMITS: 'failed-credentials=2' });
    const refused = async () => (await post(house, 'nonsense', currentRequest('tools/list'))).status;
    expect([await refused(), await refused(), await refused()]).toEqual([401, 401, 429]);
  });

  test('an internal error is a result without details', async () => {
    await using house = await openHouse(dialect, { LOG_LEVEL: 'silent' });
    const { key } = house.people.owner;
    await house.deps.db.schema.alterTable('folders').renameTo('mislaid').execute();
    const given = { name: 'create_folder', arguments: { id: house.projectId, name: 'A' } };
    const { result } = await messageIn(await post(house, key, currentRequest('tools/call', given)));
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).toContain('"code":"INTERNAL"');
    expect(JSON.stringify(result)).not.toMatch(/folders|sql|relation/i);
  });
});
