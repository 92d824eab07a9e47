import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uploadFile } from '../rooms/uploads/test/uploads.ts';
import { eventually } from '../test/eventually.ts';
import { type House, openHouse } from '../test/house.ts';

let house: House & AsyncDisposable;
beforeAll(async () => {
  house = await openHouse('sqlite');
});
afterAll(() => house[Symbol.asyncDispose]());

interface Raw {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Returns the raw response, which `fetch` would decompress. */
async function ask(path: string, headers: Record<string, string> = {}, method = 'GET', body = ''): Promise<Raw> {
  const sent = request(new URL(path, house.url), {
    method,
    headers: { authorization: `Bearer ${house.people.owner.key}`, ...headers },
  }).end(body);
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  if (answer === undefined) throw new Error('no answer');
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) };
}

const DECODERS: Record<string, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync };
const decoded = ({ headers, body }: Raw) => DECODERS[headers['content-encoding'] ?? '']?.(body) ?? body;

describe.each([
  ['a list', '/api/models'],
  ['the description of the interface', '/api/openapi.json'],
  ['a file of the API page', '/docs/swagger-ui.css'],
])('%s', (_, path) => {
  test.each([
    ['br, gzip', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', undefined],
  ])('for Accept-Encoding "%s" is encoded as %s, with the same content', async (accepted, encoding) => {
    const plain = await ask(path);
    const answer = await ask(path, { 'accept-encoding': accepted });
    expect([answer.status, answer.headers['content-encoding']]).toEqual([200, encoding]);
    expect(answer.headers.vary).toContain('Accept-Encoding');
    expect(answer.headers['content-type']).toBe(plain.headers['content-type']);
    expect(decoded(answer).equals(plain.body)).toBe(true);
    if (encoding !== undefined) expect(answer.body.length).toBeLessThan(plain.body.length / 2);
  });
});

test.each([
  ['a page', 200, expect.any(String)],
  // It is compressed while it is sent, by another thread.
  ['longer', 12_000, undefined],
])('text that is not JSON and %s is compressed with its type and charset', async (_, lines, length) => {
  const { skills } = house.people.owner.client;
  const { data } = await skills.create({ body: { name: 'Colours', description: 'Checks colours.' } });
  const content = 'Größe \u{1F3AC} 0\n'.repeat(lines);
  await skills.publish({ params: { id: data.id }, body: { content } });
  const answer = await ask(`/api/skills/${data.id}/export`, { 'accept-encoding': 'br' });
  expect(answer.headers).toMatchObject({
    'content-encoding': 'br',
    'content-type': 'text/markdown; charset=utf-8',
    vary: expect.stringContaining('Accept-Encoding'),
  });
  expect(answer.headers['content-length']).toEqual(length);
  expect(decoded(answer).toString()).toContain(content);
});

test('a small response and one without a body are not compressed', async () => {
  for (const [path, status] of [
    ['/api/ping', 200],
    ['/api/nothing', 404],
  ] as const) {
    const answer = await ask(path, { 'accept-encoding': 'br' });
    expect([answer.status, answer.headers['content-encoding']]).toEqual([status, undefined]);
  }
});

test('constant content has an ETag per encoding, and If-None-Match gets 304', async () => {
  for (const path of ['/api/openapi.json', '/docs/swagger-ui.css']) {
    const tags = new Set<string>();
    for (const encoding of ['br', 'gzip']) {
      const headers = { 'accept-encoding': encoding };
      const { headers: first } = await ask(path, headers);
      tags.add(first.etag ?? '');
      const again = await ask(path, { ...headers, 'if-none-match': first.etag ?? '' });
      expect([again.status, again.body.length]).toEqual([304, 0]);
    }
    expect(tags.size).toBe(2);
  }
});

test('a range of a file of /docs is a range of its uncompressed bytes', async () => {
  const answer = await ask('/docs/swagger-ui.css', { 'accept-encoding': 'br', range: 'bytes=0-9' });
  expect([answer.status, answer.headers['content-encoding'], answer.body.length]).toEqual([206, undefined, 10]);
});

test('Get File, which has a strong ETag, is not compressed, and If-None-Match gets 304', async () => {
  const id = await uploadFile(house, Buffer.from('some text'));
  // Hashing in the background changes the record.
  await eventually(
    async () => (await house.people.owner.client.files.get({ params: { id } })).data.sha256 !== null,
    'hashed',
  );
  const description = 'long '.repeat(300);
  await house.people.owner.client.files.update({ params: { id }, body: { description } });
  const first = await ask(`/api/files/${id}`, { 'accept-encoding': 'br' });
  expect(first.body.length).toBeGreaterThan(1024);
  expect(first.headers['content-encoding']).toBeUndefined();
  const again = await ask(`/api/files/${id}`, { 'accept-encoding': 'br', 'if-none-match': first.headers.etag ?? '' });
  expect(again.status).toBe(304);
});

test('stored files are served uncompressed, whatever their type', async () => {
  const content = Buffer.from('some text '.repeat(1000));
  const id = await uploadFile(house, content, { name: 'notes.txt', mimeType: 'text/plain' });
  const { data } = await house.people.owner.client.files.download({ params: { id } });
  const answer = await ask(data.url, { 'accept-encoding': 'br' });
  expect(answer.headers['content-type']).toContain('text/plain');
  expect([answer.headers['content-encoding'], answer.body.equals(content)]).toEqual([undefined, true]);
});

test('an event stream of the tools is not compressed', async () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const headers = { 'content-type': 'application/json', 'accept-encoding': 'br' };
  const stream = await ask(
    '/mcp',
    { ...headers, accept: 'text/event-stream, application/json' },
    'POST',
    JSON.stringify(call),
  );
  expect([stream.status, stream.headers['content-type']?.split(';')[0]]).toEqual([200, 'text/event-stream']);
  expect(stream.headers['content-encoding']).toBeUndefined();
});
