import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { StepErrorType } from '../step-error.ts';
import { freePort } from '../test/stand-in.ts';
import { type Double, startDouble } from './test/double.ts';
import { ask, type VendorApi } from './vendor-api.ts';

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

test('a request has the key, the path under the base, and JSON', async () => {
  expect(await ask(api(), Answer, ORDER, soon())).toEqual({ id: 'job-1' });
  await ask(api(), Answer, READ, soon());
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

describe('what an answer means', () => {
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

  test.each(rows)('status %i: a read is %s, an order %s', async (status, read, order) => {
    double.before = () => ({ status, body: { message: 'no' } });
    await expect(ask(api(), Answer, READ, soon())).rejects.toMatchObject({ type: read });
    await expect(ask(api(), Answer, ORDER, soon())).rejects.toMatchObject({ type: order });
  });

  test.each(['reset', 'garbage', 'html'] as const)('%s leaves an order unknown', async (mishap) => {
    double.after = () => mishap;
    await expect(ask(api(), Answer, READ, soon())).rejects.toMatchObject({ type: 'TRANSIENT' });
    await expect(ask(api(), Answer, ORDER, soon())).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
  });

  test('one that does not come in time leaves an order unknown', async () => {
    double.after = () => 'hang';
    const call = { signal: AbortSignal.timeout(100) };
    await expect(ask(api(), Answer, ORDER, call)).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
  });

  test('one of another shape leaves an order unknown', async () => {
    double.after = () => ({ body: { id: 7 } });
    await expect(ask(api(), Answer, READ, soon())).rejects.toMatchObject({ type: 'TRANSIENT' });
    await expect(ask(api(), Answer, ORDER, soon())).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
  });

  test('one that does not end is not read to its end', async () => {
    double.after = () => ({ body: JSON.stringify({ id: 'x'.repeat(9 * 1024 * 1024) }) });
    await expect(ask(api(), Answer, READ, soon())).rejects.toMatchObject({ type: 'TRANSIENT' });
    await expect(ask(api(), Answer, ORDER, soon())).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
  });

  test('an order that never left was not placed', async () => {
    const nobody = api({ baseUrl: `http://127.0.0.1:${await freePort()}` });
    await expect(ask(nobody, Answer, ORDER, soon())).rejects.toMatchObject({ type: 'TRANSIENT' });
  });

  test('a redirect is not followed: the key is for one address', async () => {
    await using elsewhere = await startDouble(() => ({ body: { id: 'stolen' } }));
    double.before = () => ({ status: 307, headers: { location: `${elsewhere.url}/` } });
    await expect(ask(api(), Answer, READ, soon())).rejects.toMatchObject({ type: 'TRANSIENT' });
    expect(elsewhere.requests).toEqual([]);
  });
});

test('the adapter reads refusals first, also out of an answer with status 200', async () => {
  const refusing = api({ refusalIn: () => ({ type: 'CONTENT_POLICY', words: 'Bearer hush-hush is rude' }) });
  const error = await ask(refusing, Answer, ORDER, soon()).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    type: 'CONTENT_POLICY',
    message: 'The vendor refuses the content: Bearer […] is rude',
  });
});

test('an order that the adapter calls transient is unknown where the status leaves that open, and else not placed', async () => {
  const busy = api({ refusalIn: () => ({ type: 'TRANSIENT' }) });
  await expect(ask(busy, Answer, ORDER, soon())).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
  double.before = () => ({ status: 423 });
  await expect(ask(busy, Answer, ORDER, soon())).rejects.toMatchObject({ type: 'TRANSIENT' });
});

test('an answer says how long to wait; where it does not, the adapter may know', async () => {
  const own = api({ refusalIn: () => ({ type: 'RATE_LIMITED', delayMs: 38_000 }) });
  double.before = () => ({ status: 429 });
  await expect(ask(own, Answer, ORDER, soon())).rejects.toMatchObject({ type: 'RATE_LIMITED', delayMs: 38_000 });
  double.before = () => ({ status: 429, headers: { 'retry-after': '7' } });
  await expect(ask(own, Answer, ORDER, soon())).rejects.toMatchObject({ delayMs: 7000 });
  await expect(ask(api(), Answer, ORDER, soon())).rejects.toMatchObject({ type: 'RATE_LIMITED', delayMs: 7000 });
});
