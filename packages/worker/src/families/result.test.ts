import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { downloadResult, isTrusted, type Result } from './result.ts';
import { type Double, startDouble } from './test/double.ts';

const folder = await mkdtemp(join(tmpdir(), 'review-result-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

let double: Double;
let results = 0;
beforeEach(async () => {
  double = await startDouble(() => ({ headers: { 'content-type': 'video/mp4' }, body: Buffer.from('content') }));
});
afterEach(() => double[Symbol.asyncDispose]());

async function download(url: string, own: Partial<Result> & { baseUrl?: string; maxBytes?: number } = {}) {
  const { baseUrl = double.url, maxBytes, ...result } = own;
  const path = join(folder, String(++results));
  const vendor = { name: 'The vendor', secrets: [], log: pino({ level: 'silent' }), baseUrl };
  const asked = { url, path, signal: AbortSignal.timeout(5000), onProgress: () => {}, ...result };
  await downloadResult(vendor, asked, maxBytes);
  return readFile(path, 'utf8');
}

const FORBIDDEN = {
  type: 'PROVIDER_FAILED',
  message: 'The vendor returned a result URL that is not a public HTTPS address.',
};

test('a result is written to the path, with progress', async () => {
  const seen: number[] = [];
  double.before = () => ({ headers: { 'content-length': '7' }, body: Buffer.from('content') });
  expect(await download(`${double.url}/a`, { onProgress: (fraction) => seen.push(fraction) })).toBe('content');
  expect(seen.at(-1)).toBe(1);
});

test("an error of the worker's disk is not blamed on the provider", async () => {
  const refused = download(`${double.url}/a`, { path: join(folder, 'no', 'such', 'folder') });
  await expect(refused).rejects.toMatchObject({
    type: 'AWAY',
    message: "The worker's disk cannot be read or written.",
  });
});

describe('a URL that is not requested', () => {
  const PUBLIC = { baseUrl: 'https://api.example.com' };

  test.each([
    'http://example.com/result',
    'ftp://example.com/result',
    'file:///etc/passwd',
    'data:text/plain,hello',
    'no address at all',
    '',
    'https://10.0.0.1/',
    'https://172.31.255.255/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://127.0.0.1/',
    'https://0.0.0.0/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[::ffff:a9fe:a9fe]/',
    'https://[::10.0.0.1]/',
    'https://[64:ff9b::10.0.0.1]/',
    'https://[2002:a00:1::]/',
    'https://[fe80::1]/',
    'https://[fd00::1]/',
    'https://[ff02::1]/',
  ])('%s', async (url) => {
    await expect(download(url, PUBLIC)).rejects.toMatchObject(FORBIDDEN);
  });

  test('a host name that resolves to a private address', async () => {
    await expect(download(double.url.replace('http://127.0.0.1', 'https://localhost'), PUBLIC)).rejects.toMatchObject(
      FORBIDDEN,
    );
    expect(double.requests).toEqual([]);
  });

  test.each([
    'https://10.0.0.1/',
    'https://[::ffff:192.168.0.1]/',
    'http://example.com/',
    'file:///etc/passwd',
    '//[bad',
  ])('a redirect to %s', async (location) => {
    double.before = () => ({ status: 302, headers: { location } });
    await expect(download(`${double.url}/a`)).rejects.toMatchObject(FORBIDDEN);
  });

  test('a loopback address, unless the provider is on this host too', async () => {
    await expect(download(`${double.url}/a`, PUBLIC)).rejects.toMatchObject(FORBIDDEN);
    await using other = await startDouble(() => ({ body: Buffer.from('beside') }));
    expect(await download(`${other.url}/a`)).toBe('beside');
  });
});

test('the configured address of the provider is trusted, even in a private network', () => {
  const url = (address: string) => new URL(address);
  expect(isTrusted(url('https://10.0.0.1:8443/result'), 'https://10.0.0.1:8443/v1')).toBe(true);
  expect(isTrusted(url('https://10.0.0.1/result'), 'https://10.0.0.1:8443/v1')).toBe(false);
  expect(isTrusted(url('http://10.0.0.1:8443/result'), 'https://10.0.0.1:8443/v1')).toBe(false);
});

test('redirects are followed up to a limit', async () => {
  double.before = ({ path }) => (path === '/a' ? { status: 302, headers: { location: '/b' } } : undefined);
  expect(await download(`${double.url}/a`)).toBe('content');
  double.before = () => ({ status: 302, headers: { location: '/a' } });
  await expect(download(`${double.url}/a`)).rejects.toMatchObject({
    message: expect.stringContaining('redirects too often'),
  });
});

test('a key is sent only to its origin', async () => {
  await using elsewhere = await startDouble(() => ({ body: Buffer.from('there') }));
  double.before = () => ({ status: 302, headers: { location: `${elsewhere.url}/b` } });
  const key = { origin: double.url, headers: { 'x-goog-api-key': 'secret' } };
  expect(await download(`${double.url}/a`, { key })).toBe('there');
  expect(double.requests[0]?.headers['x-goog-api-key']).toBe('secret');
  expect(elsewhere.requests[0]?.headers['x-goog-api-key']).toBeUndefined();
});

test.each([
  [401, 'RESULT_EXPIRED'],
  [403, 'RESULT_EXPIRED'],
  [404, 'RESULT_EXPIRED'],
  [410, 'RESULT_EXPIRED'],
  [429, 'TRANSIENT'],
  [500, 'TRANSIENT'],
  [206, 'TRANSIENT'],
])('status %i is %s', async (status, type) => {
  double.before = () => ({ status });
  await expect(download(`${double.url}/a`)).rejects.toMatchObject({ type });
});

test.each(['text/html; charset=utf-8', 'application/json', 'application/problem+json', 'application/xml', 'text/xml'])(
  'an answer of type %s is not a result',
  async (type) => {
    double.before = () => ({ headers: { 'content-type': type }, body: 'Hello' });
    await expect(download(`${double.url}/a`)).rejects.toMatchObject({ type: 'PROVIDER_FAILED' });
  },
);

test('a result over the limit is refused by its content-length and by its bytes', async () => {
  double.before = () => ({
    headers: { 'content-length': '5000000000000', connection: 'close' },
    body: Buffer.from('c'),
  });
  await expect(download(`${double.url}/a`)).rejects.toMatchObject({ type: 'PROVIDER_FAILED' });
  double.before = () => ({ headers: { 'transfer-encoding': 'chunked' }, body: Buffer.from('too much') });
  await expect(download(`${double.url}/a`, { maxBytes: 7 })).rejects.toMatchObject({ type: 'PROVIDER_FAILED' });
  double.before = () => ({ headers: { 'transfer-encoding': 'chunked' }, body: Buffer.from('enough!') });
  expect(await download(`${double.url}/a`, { maxBytes: 7 })).toBe('enough!');
});

test('a truncated, broken or missing answer is TRANSIENT', async () => {
  double.before = () => ({ headers: { 'content-length': '100', connection: 'close' }, body: Buffer.from('half') });
  await expect(download(`${double.url}/a`)).rejects.toMatchObject({ type: 'TRANSIENT' });
  double.before = () => 'reset';
  await expect(download(`${double.url}/a`)).rejects.toMatchObject({ type: 'TRANSIENT' });
  double.before = () => 'hang';
  const late = download(`${double.url}/a`, { signal: AbortSignal.timeout(100) });
  await expect(late).rejects.toMatchObject({ type: 'TRANSIENT' });
});
