import { pino } from 'pino';
import { expect, test } from 'vitest';
import { REFUSING_ADDRESS } from '../../../../scripts/free-port.ts';
import { fakeServer } from '../test/fake-server.ts';
import { redact, retryAfter, toStepError, wasSent } from './refusal.ts';

await using server = await fakeServer();
const { row: task } = server.add('meshy-7', { prompt: 'A lamp <#FX00000000000000000009> of brass' });

function vendor() {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  return { name: 'Meshy', secrets: ['msy_0123456789'], log, logged: () => lines.join('') };
}

test.each([
  ['INVALID_INPUT', /^Meshy does not accept the request: too round$/],
  ['CONTENT_POLICY', /^Meshy refuses the content: too round$/],
  ['RATE_LIMITED', /^Meshy is busy: too round$/],
  ['TRANSIENT', /^Meshy is not available: too round$/],
  ['AMBIGUOUS_SUBMIT', /^Meshy did not confirm whether/],
  ['RESULT_EXPIRED', /^Meshy no longer has the result: too round$/],
  ['PROVIDER_FAILED', /^Meshy failed: too round$/],
] as const)('%s has the provider’s message for the user', (type, message) => {
  const asked = vendor();
  const error = toStepError(asked, { type, words: 'too round', delayMs: 7 }, task);
  expect(error).toMatchObject({ type, delayMs: 7, message: expect.stringMatching(message) });
  expect(asked.logged()).toBe('');
});

test.each(['AUTH', 'BALANCE'] as const)('%s has the provider’s message in the log, not for the user', (type) => {
  const asked = vendor();
  const error = toStepError(asked, { type, words: 'model meshy-7 is not part of plan Free' }, task);
  expect(error.message).toMatch(/^Meshy .* worker's log\.$/);
  expect(error.message).not.toContain('Free');
  expect(JSON.parse(asked.logged())).toMatchObject({
    level: 50,
    provider: 'Meshy',
    said: 'model meshy-7 is not part of plan Free',
    file: task.fileId,
  });
});

test.each(['AUTH', 'INVALID_INPUT'] as const)('%s contains neither key, URL nor prompt', (type) => {
  const asked = vendor();
  const words = `key msy_0123456789 may not make "A lamp  of brass" (${task.prompt}), see https://x.example/?sig=abc`;
  const { message } = toStepError(asked, { type, words }, task);
  for (const secret of ['msy_0123456789', 'of brass', 'A lamp', 'sig=abc', 'x.example']) {
    expect(message + asked.logged()).not.toContain(secret);
  }
});

test.each([
  ['Incorrect API key provided: sk-proj-abcdef123456.', 'Incorrect API key provided: [key]'],
  ['Authorization was Bearer eyJhbGciOi.J9', 'Authorization was [key]'],
  ['invalid key-0123456789abcdef', 'invalid [key]'],
  ['key msy_dummy_api_key_for_test_mode_12345678', 'key [key]'],
  ['see HTTPS://bucket.example/a?X-Amz-Signature=1 for more', 'see [address] for more'],
  ['at s3://bucket/key', 'at [address]'],
  ['the picture data:image/png;base64,iVBORw0KGgo= is broken', 'the picture [data] is broken'],
  ['  many\n\n lines\tof it ', 'many lines of it'],
  ['The API key is missing; a bearer expected', 'The API key is missing; a bearer expected'],
])('"%s" is redacted to "%s"', (words, expected) => {
  expect(redact(words)).toBe(expected);
});

test('a very short prompt is not redacted, and a long message is cut', () => {
  expect(redact('a bad area', ['a'])).toBe('a bad area');
  expect(redact('wörter '.repeat(500)).length).toBeLessThanOrEqual(300);
});

test('only a failed connection proves that nothing was sent', async () => {
  const refusing = await fetch(REFUSING_ADDRESS).catch((error: unknown) => error);
  expect(wasSent(refusing)).toBe(false);
  const nowhere = await fetch('http://nowhere.invalid/').catch((error: unknown) => error);
  expect(wasSent(nowhere)).toBe(false);
  expect(wasSent(new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) }))).toBe(
    true,
  );
  expect(wasSent(new DOMException('late', 'TimeoutError'))).toBe(true);
  expect(wasSent('anything')).toBe(true);
});

test('nothing was sent if every address of a host refuses the connection', () => {
  const failed = (code: string) => Object.assign(new Error(code), { code, syscall: 'connect' });
  const all = (...codes: string[]) => new TypeError('fetch failed', { cause: new AggregateError(codes.map(failed)) });
  expect(wasSent(all('ECONNREFUSED', 'ENETUNREACH'))).toBe(false);
  expect(wasSent(all('ECONNREFUSED', 'ECONNRESET'))).toBe(true);
});

test('an error code on an open connection does not prove that nothing was sent', () => {
  for (const syscall of ['read', 'write']) {
    expect(wasSent(Object.assign(new Error(), { code: 'EHOSTUNREACH', syscall }))).toBe(true);
  }
});

test('redaction of a very long message is fast', () => {
  const started = process.cpuUsage();
  expect(redact('a.'.repeat(100_000)).length).toBeLessThanOrEqual(300);
  expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
});

test('Retry-After is read as seconds or a date, and capped', () => {
  const wait = (value?: string) => retryAfter(new Headers(value === undefined ? {} : { 'retry-after': value }));
  expect(wait()).toBeUndefined();
  expect(wait('3')).toBe(3000);
  expect(wait('0.5')).toBe(500);
  expect(wait('soon')).toBeUndefined();
  expect(wait('0')).toBeUndefined();
  expect(wait(new Date(Date.now() - 5000).toUTCString())).toBeUndefined();
  expect(wait(new Date(Date.now() + 60_000).toUTCString())).toBeGreaterThan(55_000);
  // A timer beyond its maximum fires at once.
  expect(wait('99999999999')).toBe(3_600_000);
});
