import { MAX_RESPONSE_EXCERPT } from '@review/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Double, startDouble } from '../families/test/double.ts';
import { publicLookupWith } from '../public-address.ts';
import { sendWebhook } from './send.ts';

let receiver: Double;
beforeEach(async () => {
  receiver = await startDouble(() => ({ body: { received: true } }));
});
afterEach(() => receiver[Symbol.asyncDispose]());

const HEADERS = { 'webhook-id': 'a', 'webhook-timestamp': '1', 'webhook-signature': 'v1,x' };
const requestTo = (url: string) => ({ deliveryId: 'd', url, headers: HEADERS, body: '{"type":"file.created"}' });
const send = (url = `${receiver.url}/hook`, own: Partial<Parameters<typeof sendWebhook>[1]> = {}) =>
  sendWebhook(requestTo(url), { allowsLoopback: true, ...own });

const REFUSED = {
  deliveryId: 'd',
  responseStatus: null,
  responseExcerpt: null,
  error: 'The URL is not a public https address.',
};

test('the body is sent as it was signed, and the answer is kept', async () => {
  expect(await send()).toEqual({
    deliveryId: 'd',
    responseStatus: 200,
    responseExcerpt: '{"received":true}',
    error: null,
  });
  const [request] = receiver.requests;
  expect(request?.bytes.toString()).toBe('{"type":"file.created"}');
  expect(request).toMatchObject({
    method: 'POST',
    path: '/hook',
    headers: { ...HEADERS, 'content-type': 'application/json' },
  });
});

test.each([
  [204, null],
  [299, null],
  [400, 'The webhook answered with status 400.'],
  [410, 'The webhook answered with status 410.'],
  [500, 'The webhook answered with status 500.'],
])('a status of %i', async (status, error) => {
  receiver.before = () => ({ status, body: '' });
  expect(await send()).toMatchObject({ responseStatus: status, error });
});

test('a redirect is a failure and is not followed', async () => {
  await using other = await startDouble(() => ({ body: {} }));
  receiver.before = () => ({ status: 307, headers: { location: `${other.url}/` } });
  expect(await send()).toMatchObject({
    responseStatus: 307,
    error: 'The webhook answered with status 307. Redirects are not followed.',
  });
  expect(other.requests).toEqual([]);
});

test('an answer is read up to 64 kB', async () => {
  let sent = 0;
  receiver.before = () => ({
    body: (async function* () {
      for (; sent < 1000; sent++) yield 'x'.repeat(16_384);
    })(),
  });
  expect(await send()).toMatchObject({
    responseStatus: 200,
    responseExcerpt: 'x'.repeat(MAX_RESPONSE_EXCERPT),
    error: null,
  });
  expect(sent).toBeLessThan(1000);
});

test('no answer in time is a failure', async () => {
  receiver.before = () => 'hang';
  expect(await send(undefined, { timeoutMs: 50 })).toMatchObject({ error: 'No answer within 0.05 seconds.' });
});

test('the status counts even if the body stalls', async () => {
  receiver.before = () => ({
    body: (async function* () {
      yield 'begin';
      await new Promise(() => {});
    })(),
  });
  expect(await send(undefined, { timeoutMs: 300 })).toMatchObject({
    responseStatus: 200,
    responseExcerpt: 'begin',
    error: null,
  });
});

test('a broken connection is a failure', async () => {
  receiver.before = () => 'reset';
  expect(await send()).toMatchObject({ responseStatus: null, error: 'The webhook cannot be reached: ECONNRESET.' });
  const { url } = receiver;
  await receiver[Symbol.asyncDispose]();
  expect(await send(url)).toMatchObject({ error: 'The webhook cannot be reached: ECONNREFUSED.' });
});

describe('without the permission for this host', () => {
  const strict = { allowsLoopback: false };

  test.each(['http://127.0.0.1:80/', 'http://localhost/', 'http://[::1]/', 'https://127.0.0.1/', 'https://[::1]/'])(
    '%s is not requested',
    async (url) => {
      expect(await send(url, strict)).toEqual(REFUSED);
    },
  );

  test('nor is a name that resolves to it', async () => {
    expect(await send(receiver.url.replace('http://127.0.0.1', 'https://localhost'), strict)).toEqual(REFUSED);
    expect(receiver.requests).toEqual([]);
  });
});

test.each(['http://10.0.0.1/', 'https://169.254.169.254/', 'https://192.168.1.1/', 'http://example.com/'])(
  'with it, %s is still not requested',
  async (url) => {
    expect(await send(url)).toEqual(REFUSED);
  },
);

test('a name that resolves to a private address after it was public is not requested', async () => {
  const answers = [['93.184.215.14'], ['127.0.0.1']];
  const asked: string[] = [];
  const resolve = (hostname: string) => {
    asked.push(hostname);
    return (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
  };
  const lookup = publicLookupWith((hostname, _options, done) =>
    done(
      null,
      resolve(hostname).map((address) => ({ address, family: 4 })),
    ),
  );
  const { port } = new URL(receiver.url);
  // The check of an application that resolves the name before it connects.
  expect(resolve('rebinding.example.com')).toEqual(['93.184.215.14']);
  expect(await send(`https://rebinding.example.com:${port}/`, { lookup })).toEqual(REFUSED);
  expect(asked).toEqual(['rebinding.example.com', 'rebinding.example.com']);
  expect(receiver.requests).toEqual([]);
});

test('one private address among public ones is enough to refuse', async () => {
  const lookup = publicLookupWith((_hostname, _options, done) =>
    done(null, [
      { address: '93.184.215.14', family: 4 },
      { address: '::1', family: 6 },
    ]),
  );
  expect(await send('https://mixed.example.com/', { lookup })).toEqual(REFUSED);
});
