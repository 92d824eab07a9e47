import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { REFUSING_ADDRESS } from '../../../../scripts/free-port.ts';
import type { StepErrorType } from '../step-error.ts';
import { type Double, startDouble } from './test/double.ts';
import { callApi, type VendorApi } from './vendor-api.ts';

let double: Double;
beforeEach(async () => {
  double = await startDouble(() => ({ body: { id: 'job-1' } }));
});
afterEach(() => double[Symbol.asyncDispose]());

const Answer = z.object({ id: z.string() });
const api = (own: Partial<VendorApi> = {}): VendorApi => ({
  name: 'The vendor',
  secrets: ['hush-hush'],
  log: pino({ level: 'silent' }),
  baseUrl: `${double.url}/base`,
  headers: { authorization: 'Bearer hush-hush' },
  refusalIn: () => null,
  ...own,
});
const soon = () => ({ signal: AbortSignal.timeout(5000) });
const READ = { path: '/jobs' };
const ORDER = { method: 'POST', path: '/jobs', body: { prompt: 'A lamp' }, paid: true } as const;

test('a request has the key, the path under the base URL, and JSON', async () => {
  expect(await callApi(api(), Answer, ORDER, soon())).toEqual({ id: 'job-1' });
  await callApi(api(), Answer, READ, soon());
  expect(double.requests).toMatchObject([
    {
      method: 'POST',
      path: '/base/jobs',
      headers: { authorization: 'Bearer hush-hush', 'content-type': 'application/json' },
      body: { prompt: 'A lamp' },
    },
    { method: 'GET', path: '/base/jobs' },
  ]);
  expect(double.requests[1]?.headers['content-type']).toBeUndefined();
});

describe('an answer', () => {
  const rows: [status: number, read: StepErrorType, order: StepErrorType][] = [
    [400, 'TRANSIENT', 'INVALID_INPUT'],
    [401, 'AUTH', 'AUTH'],
    [402, 'BALANCE', 'BALANCE'],
    [403, 'AUTH', 'AUTH'],
    [404, 'TRANSIENT', 'INVALID_INPUT'],
    [408, 'TRANSIENT', 'AMBIGUOUS_SUBMIT'],
    [409, 'TRANSIENT', 'AMBIGUOUS_SUBMIT'],
    [418, 'TRANSIENT', 'INVALID_INPUT'],
    [422, 'TRANSIENT', 'INVALID_INPUT'],
    [429, 'RATE_LIMITED', 'RATE_LIMITED'],
    [500, 'TRANSIENT', 'AMBIGUOUS_SUBMIT'],
    [503, 'TRANSIENT', 'AMBIGUOUS_SUBMIT'],
    [504, 'TRANSIENT', 'AMBIGUOUS_SUBMIT'],
    [529, 'TRANSIENT', 'AMBIGUOUS_SUBMIT'],
  ];

  test.each(rows)('with status %i: a read is %s, a submit %s', async (status, read, order) => {
    double.before = () => ({ status, body: { message: 'no' } });
    await expect(callApi(api(), Answer, READ, soon())).rejects.toMatchObject({ type: read });
    await expect(callApi(api(), Answer, ORDER, soon())).rejects.toMatchObject({ type: order });
  });

  test.each(['reset', 'garbage', 'html'] as const)('(%s) makes a submit ambiguous', async (mishap) => {
    double.after = () => mishap;
    await expect(callApi(api(), Answer, READ, soon())).rejects.toMatchObject({ type: 'TRANSIENT' });
    await expect(callApi(api(), Answer, ORDER, soon())).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
  });

  test('after the timeout makes a submit ambiguous', async () => {
    double.after = () => 'hang';
    const call = { signal: AbortSignal.timeout(100) };
    await expect(callApi(api(), Answer, ORDER, call)).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
  });

  test('of another shape makes a submit ambiguous', async () => {
    double.after = () => ({ body: { id: 7 } });
    await expect(callApi(api(), Answer, READ, soon())).rejects.toMatchObject({ type: 'TRANSIENT' });
    await expect(callApi(api(), Answer, ORDER, soon())).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
  });

  test('is read only up to a limit', async () => {
    double.after = () => ({ body: JSON.stringify({ id: 'x'.repeat(9 * 1024 * 1024) }) });
    await expect(callApi(api(), Answer, READ, soon())).rejects.toMatchObject({ type: 'TRANSIENT' });
    await expect(callApi(api(), Answer, ORDER, soon())).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
  });

  test('to a submit that was not sent is TRANSIENT', async () => {
    const unreachable = api({ baseUrl: REFUSING_ADDRESS });
    await expect(callApi(unreachable, Answer, ORDER, soon())).rejects.toMatchObject({ type: 'TRANSIENT' });
  });

  test('with a redirect is not followed, because it would forward the key', async () => {
    await using elsewhere = await startDouble(() => ({ body: { id: 'stolen' } }));
    double.before = () => ({ status: 307, headers: { location: `${elsewhere.url}/` } });
    await expect(callApi(api(), Answer, READ, soon())).rejects.toMatchObject({ type: 'TRANSIENT' });
    expect(elsewhere.requests).toEqual([]);
  });
});

test('the adapter reads refusals first, including those with status 200', async () => {
  const refusing = api({ refusalIn: () => ({ type: 'CONTENT_POLICY', words: 'Bearer hush-hush is rude' }) });
  const error = await callApi(refusing, Answer, ORDER, soon()).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    type: 'CONTENT_POLICY',
    message: 'The vendor refuses the content: Bearer […] is rude',
  });
});

test('a TRANSIENT refusal of a submit is ambiguous unless the status rules that out', async () => {
  const busy = api({ refusalIn: () => ({ type: 'TRANSIENT' }) });
  await expect(callApi(busy, Answer, ORDER, soon())).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
  double.before = () => ({ status: 423 });
  await expect(callApi(busy, Answer, ORDER, soon())).rejects.toMatchObject({ type: 'TRANSIENT' });
});

test('the delay comes from Retry-After, else from the adapter', async () => {
  const own = api({ refusalIn: () => ({ type: 'RATE_LIMITED', delayMs: 38_000 }) });
  double.before = () => ({ status: 429 });
  await expect(callApi(own, Answer, ORDER, soon())).rejects.toMatchObject({ type: 'RATE_LIMITED', delayMs: 38_000 });
  double.before = () => ({ status: 429, headers: { 'retry-after': '7' } });
  await expect(callApi(own, Answer, ORDER, soon())).rejects.toMatchObject({ delayMs: 7000 });
  await expect(callApi(api(), Answer, ORDER, soon())).rejects.toMatchObject({ type: 'RATE_LIMITED', delayMs: 7000 });
});
