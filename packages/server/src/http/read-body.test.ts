import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { json, onEachDatabase } from '../test/house.ts';
import { problemIn } from '../test/problem-in.ts';
import { refusedAs } from '../tools/test/wire.ts';

const LIMIT = 4096;
const JSON_TYPE = { 'content-type': 'application/json' };
const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as string))));

onEachDatabase(
  (house) => {
    const path = () => `/api/projects/${house().projectId}/folders`;
    const post = (init: RequestInit) => house().request('owner', 'POST', path(), init);
    const names = async () => {
      const list = await house().people.owner.client.folders.list({ params: { id: house().projectId } });
      return list.data.map(({ name }) => name);
    };

    test.each([
      ['cut off', '{"name":"A"'],
      ['a trailing comma', '{"name":"A",}'],
      ['single quotes', "{'name':'A'}"],
      ['two values', '{"name":"A"}{"name":"B"}'],
      ['NaN', '{"name":NaN}'],
      ['a control character in a string', '{"name":"a\nb"}'],
      ['nothing but space', '  '],
      ['a form', 'name=A'],
    ])('JSON that is not well formed is 400 INVALID_JSON: %s', async (_, body) => {
      await problemIn(await post({ body, headers: JSON_TYPE }), 'INVALID_JSON');
    });

    test.each([
      ['a byte that never occurs', bytes('{"name":"', [0xff], '"}')],
      ['half a character', bytes('{"name":"', [0xc3], '"}')],
      ['an encoded surrogate', bytes('{"name":"', [0xed, 0xa0, 0x80], '"}')],
    ])('bytes that are not UTF-8 are 400 INVALID_JSON: %s', async (_, body) => {
      const problem = await problemIn(await post({ body, headers: JSON_TYPE }), 'INVALID_JSON');
      expect(problem.detail).toBe('The body is not encoded as UTF-8.');
    });

    test.each([
      'application/json',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'APPLICATION/JSON',
    ])('%s is accepted', async (type) => {
      expect((await post({ body: '{"name":"A"}', headers: { 'content-type': type } })).status).toBe(201);
    });

    test.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json; charset=latin1',
      'application/json; charset=utf-16',
      'application/json; charset=utf-7',
      'application/jsonx',
      'text/json',
      'nonsense',
    ])('%s is 415', async (type) => {
      const answer = await post({ body: '{"name":"A"}', headers: { 'content-type': type } });
      await problemIn(answer, 'UNSUPPORTED_MEDIA_TYPE');
      expect(answer.headers.get('accept-query')).toBeNull();
    });

    test('a body in another encoding than its charset is refused', async () => {
      const body = new Uint8Array(Buffer.from('{"name":"smuggled"}', 'utf16le'));
      const answer = await post({ body, headers: { 'content-type': 'application/json; charset=utf-16le' } });
      await problemIn(answer, 'UNSUPPORTED_MEDIA_TYPE');
    });

    test('a body without a content type is 415, no body at all is 400', async () => {
      await problemIn(await post({ body: bytes('{"name":"A"}') }), 'UNSUPPORTED_MEDIA_TYPE');
      await problemIn(await post({}), 'INVALID_REQUEST');
      await problemIn(await post({ headers: JSON_TYPE }), 'INVALID_REQUEST');
      await problemIn(await post({ body: '', headers: JSON_TYPE }), 'INVALID_REQUEST');
    });

    test.each(['null', 'true', '7', '"text"', '[]', '[{"name":"A"}]'])(
      'JSON that is not an object is 400: %s',
      async (body) => {
        const problem = await problemIn(await post({ body, headers: JSON_TYPE }), 'INVALID_REQUEST');
        expect(problem.errors).toMatchObject([{ pointer: '', code: 'INVALID_TYPE' }]);
      },
    );

    describe('the limit', () => {
      const ofSize = (size: number) => `{"name":"A"}${' '.repeat(size - 12)}`;
      test('a body of exactly the limit is read, one byte more is 413', async () => {
        expect((await post({ body: ofSize(LIMIT), headers: JSON_TYPE })).status).toBe(201);
        const problem = await problemIn(await post({ body: ofSize(LIMIT + 1), headers: JSON_TYPE }), 'BODY_TOO_LARGE');
        expect(problem.detail).toContain(String(LIMIT));
      });

      test('the limit applies to a body without Content-Length too', async () => {
        const streamed = (size: number): RequestInit => ({
          body: new Blob([ofSize(size)]).stream(),
          headers: JSON_TYPE,
          duplex: 'half',
        });
        expect((await post(streamed(LIMIT))).status).toBe(201);
        await problemIn(await post(streamed(LIMIT + 1)), 'BODY_TOO_LARGE');
      });

      test('10 MB are 413, and the connection serves the next request', async () => {
        await problemIn(await post({ body: ofSize(10_000_000), headers: JSON_TYPE }), 'BODY_TOO_LARGE');
        expect((await house().request('owner', 'GET', '/api/ping')).status).toBe(200);
      });

      test('the decompressed size counts: a zip bomb is 413', async () => {
        const gzip = { ...JSON_TYPE, 'content-encoding': 'gzip' };
        const zipped = (text: string) => new Uint8Array(gzipSync(text));
        expect((await post({ body: zipped(ofSize(LIMIT)), headers: gzip })).status).toBe(201);
        await problemIn(await post({ body: zipped(ofSize(LIMIT + 1)), headers: gzip }), 'BODY_TOO_LARGE');
        const bomb = zipped(ofSize(20_000_000));
        expect(bomb.length).toBeLessThan(LIMIT * 10);
        await problemIn(await post({ body: bomb, headers: gzip }), 'BODY_TOO_LARGE');
      });

      test.each([
        ['gzip', gzipSync],
        ['deflate', deflateSync],
        ['br', brotliCompressSync],
      ])('a body encoded with %s is decoded', async (encoding, encode) => {
        const body = new Uint8Array(encode(`{"name":"${encoding}"}`));
        expect((await post({ body, headers: { ...JSON_TYPE, 'content-encoding': encoding } })).status).toBe(201);
        expect(await names()).toContain(encoding);
      });

      test('a body that does not match its Content-Encoding, or has an unknown one, is refused', async () => {
        const encoded = (encoding: string, body: Uint8Array<ArrayBuffer>) =>
          post({ body, headers: { ...JSON_TYPE, 'content-encoding': encoding } });
        await problemIn(await encoded('gzip', bytes('{"name":"A"}')), 'INVALID_JSON');
        await problemIn(await encoded('br', bytes('{"name":"A"}')), 'INVALID_JSON');
        await problemIn(
          await encoded('gzip', new Uint8Array(gzipSync('{"name":"A"}').subarray(0, 20))),
          'INVALID_JSON',
        );
        for (const encoding of ['rot13', 'gzip, br', 'constructor']) {
          const answer = await encoded(encoding, bytes('{"name":"A"}'));
          expect((await problemIn(answer, 'UNSUPPORTED_MEDIA_TYPE')).detail).toContain('gzip, deflate, br');
          expect(answer.headers.get('accept-encoding')).toBe('gzip, deflate, br');
        }
      });
    });

    describe('hostile values', () => {
      test.each([
        ['arrays', (depth: number) => '['.repeat(depth) + ']'.repeat(depth)],
        ['objects', (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`],
      ])('%s nested more than 200 levels deep are not parsed', async (_, nested) => {
        const sent = (body: string) => post({ body, headers: JSON_TYPE });
        await problemIn(await sent(nested(200)), 'INVALID_REQUEST');
        for (const body of [nested(201), `{"name":${nested(200)}}`, nested(600), nested(600).slice(0, -1)]) {
          const problem = await problemIn(await sent(body), 'INVALID_JSON');
          expect(problem.detail).toBe('The body is nested too deeply: at most 200 levels.');
        }
      });

      test('brackets and quotes inside strings do not count as nesting', async () => {
        const name = `${'['.repeat(30)}\\"${'{'.repeat(30)}`;
        for (let copies = 0; copies < 10; copies++) expect((await post(json({ name }))).status).toBe(201);
        const body = `{"name":"A","x":["${'\\"['.repeat(300)}"]}`;
        const problem = await problemIn(await post({ body, headers: JSON_TYPE }), 'INVALID_REQUEST');
        expect(problem.errors).toMatchObject([{ pointer: '/x', code: 'UNKNOWN_FIELD' }]);
      });

      test('the last value of a repeated field counts', async () => {
        expect((await post({ body: '{"name":"first","name":"last"}', headers: JSON_TYPE })).status).toBe(201);
        expect(await names()).toContain('last');
        expect(await names()).not.toContain('first');
      });

      test.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
        '%s is an unknown field like any other',
        async (name) => {
          const body = `{"name":"A","${name}":{"name":"B","polluted":true}}`;
          const problem = await problemIn(await post({ body, headers: JSON_TYPE }), 'INVALID_REQUEST');
          expect(problem.errors).toMatchObject([{ pointer: `/${name}`, code: 'UNKNOWN_FIELD' }]);
          expect(Reflect.get({}, 'polluted')).toBeUndefined();
          const alone = await post({ body: `{"${name}":{"name":"B"}}`, headers: JSON_TYPE });
          await problemIn(alone, 'INVALID_REQUEST');
        },
      );

      test.each([
        ['NUL', 'a\0b'],
        ['the first half of a pair', 'a\ud800'],
        ['the second half of a pair', '\udc00a'],
      ])('text that a database cannot store is 400: %s', async (_, name) => {
        const problem = await problemIn(await post(json({ name })), 'INVALID_REQUEST');
        expect(problem.errors).toMatchObject([{ pointer: '/name', code: 'INVALID_TEXT' }]);
      });

      test('all other text is returned unchanged', async () => {
        const name = '\u0001 e\u0301 \u{1F469}\u200D\u{1F680} \u202E "\\ \' -- %_ \u{10FFFF} \uFEFF';
        expect((await post(json({ name }))).status).toBe(201);
        expect(await names()).toContain(name);
      });
    });

    test('an action without parameters ignores any body', async () => {
      const created = await house().people.owner.client.projects.create({ body: { name: 'Short-lived' } });
      const act = (verb: string, init: RequestInit = {}) =>
        house().request('owner', 'POST', `/api/projects/${created.data.id}/${verb}`, init);
      expect((await act('delete')).status).toBe(204);
      const undone = await act('delete.cancel', { body: '{', headers: JSON_TYPE });
      expect([undone.status, await undone.text()]).toEqual([204, '']);
    });
  },
  { BODY_LIMIT: String(LIMIT) },
);

onEachDatabase((house) => {
  test('JSON nested 5,000 levels deep is 400 in the API, the tools and the worker API', async () => {
    const deep = '['.repeat(5000) + ']'.repeat(5000);
    const { people, projectId } = house();
    const { workerToken } = house().deps.config;
    const message = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
    const sent: [string, string, string][] = [
      [`/api/projects/${projectId}/folders`, people.owner.key, deep],
      [`/api/projects/${projectId}/folders`, people.owner.key, `{"name":"A","parent":${deep}}`],
      ['/mcp', people.owner.key, deep],
      ['/mcp', people.owner.key, message(deep)],
      ['/mcp', people.owner.key, message(`{"name":"whoami","arguments":{"x":${deep}}}`)],
      ['/worker/hello', workerToken, deep],
      ['/worker/tasks/FX00000000000000000000/submitted', workerToken, `{"epoch":1,"stage":"a","job":${deep}}`],
    ];
    for (const [path, token, body] of sent) {
      const headers = { ...JSON_TYPE, authorization: `Bearer ${token}`, 'idempotency-key': 'deep' };
      const answer = await fetch(house().url + path, { method: 'POST', headers, body });
      const refused =
        path === '/mcp' ? await refusedAs(answer, 'INVALID_JSON') : await problemIn(answer, 'INVALID_JSON');
      expect(refused.detail).toContain('at most 200 levels');
    }
  });
});
