import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { StepErrorType } from '../step-error.ts';
import { testKeyedAccount } from '../test/account.ts';
import { testErrorCodes } from '../test/error-codes.ts';
import { meaningOf, minimax } from './minimax.ts';
import { callFor, contextFor, downloaded, type Storage, startStorage, taskFor, token } from './test/asking.ts';
import { mediaOf } from './test/media.ts';
import { ERROR_CLASSES, ERROR_CODES, MINIMAX_KEY, type MinimaxDouble, refusal, startMinimax } from './test/minimax.ts';

let vendor: MinimaxDouble;
let storage: Storage;
beforeAll(async () => {
  storage = await startStorage();
});
// Created once, outside the time limit of a test.
beforeAll(() => mediaOf('minimax-h3', ''), 60_000);
afterAll(() => storage[Symbol.asyncDispose]());
beforeEach(async () => {
  vendor = await startMinimax();
});
afterEach(() => vendor[Symbol.asyncDispose]());

const family = (apiKey = MINIMAX_KEY) => minimax.open({ apiKey, baseUrl: vendor.url, fal: null }, contextFor());
const submit = (...asked: Parameters<typeof taskFor>) => family().submit(callFor(taskFor(...asked)));
const lastOrder = () => vendor.requests.findLast(({ method }) => method === 'POST')?.body;
const job = () => ({ id: vendor.orders[0]?.id ?? '' });
const poll = (model = 'minimax-h3') => family().poll({ ...callFor(taskFor(model)), job: job() });
const countDeletes = () => vendor.requests.filter(({ method }) => method === 'DELETE').length;

describe('a submit', () => {
  test('sends every setting, in the vendor’s spelling', async () => {
    expect(await submit('minimax-h3')).toEqual({ job: job() });
    expect(lastOrder()).toEqual({
      model: 'MiniMax-H3',
      content: [{ type: 'text', text: 'A lamp' }],
      resolution: '768P',
      duration: 5,
      ratio: '16:9',
    });
    await submit('minimax-h3-max');
    expect(lastOrder()).toMatchObject({ model: 'MiniMax-H3-Max', extra: { prompt_expansion_mode: 'disabled' } });
  });

  test.each([
    ['minimax-h3', '2k', 15, '21:9', '2K'],
    ['minimax-h3', '768p', 5, '9:16', '768P'],
    ['minimax-h3-max', '480p', 5, '1:1', '480P'],
    ['minimax-h3-max', '768p', 15, '3:4', '768P'],
  ])(
    'of %s at %s, %i seconds, %s sends these settings',
    async (model, resolution, durationSeconds, aspectRatio, sent) => {
      await submit(model, { configs: { resolution, durationSeconds, aspectRatio } });
      expect(lastOrder()).toMatchObject({ resolution: sent, duration: durationSeconds, ratio: aspectRatio });
    },
  );

  test.each(['minimax-h3', 'minimax-h3-max'])('of %s sends pictures as references', async (model) => {
    const attachments = [await storage.picture(1), await storage.picture(2, { format: 'gif' })];
    await submit(model, { prompt: `${token(2)} on ${token(1)}`, attachments });
    const picture = {
      type: 'image_url',
      image_url: { url: expect.stringMatching(/^data:image\/png;/) },
      role: 'reference_image',
    };
    expect(lastOrder()).toMatchObject({ content: [{ type: 'text', text: 'image 2 on image 1' }, picture, picture] });
  });

  test('of H3 Max at 1080p without an account at fal is refused before any request', async () => {
    const task = taskFor('minimax-h3-max', { configs: { resolution: '1080p' } });
    expect(() => family().check(task)).toThrow(
      expect.objectContaining({ type: 'INVALID_INPUT', message: expect.stringContaining('FAL_KEY') }),
    );
    family().check(taskFor('minimax-h3-max'));
    expect(vendor.requests).toEqual([]);
  });
});

describe('a refusal', () => {
  test.each<[number, string, number | null, StepErrorType]>([
    [400, 'bad_request_error', 2013, 'INVALID_INPUT'],
    [401, 'authorized_error', 1004, 'AUTH'],
    [401, 'authorized_error', 2049, 'AUTH'],
    [402, 'insufficient_balance_error', 1008, 'BALANCE'],
    [422, 'unprocessable_entity_error', 1026, 'CONTENT_POLICY'],
    [422, 'unprocessable_entity_error', 1027, 'CONTENT_POLICY'],
    [422, 'unprocessable_entity_error', null, 'CONTENT_POLICY'],
    [429, 'rate_limit_error', 1002, 'RATE_LIMITED'],
    [429, 'rate_limit_error', 1039, 'RATE_LIMITED'],
    [500, 'server_error', 1000, 'AMBIGUOUS_SUBMIT'],
    [500, 'server_error', 1001, 'AMBIGUOUS_SUBMIT'],
    [500, 'server_error', 1013, 'AMBIGUOUS_SUBMIT'],
    [500, 'server_error', 1024, 'AMBIGUOUS_SUBMIT'],
    [500, 'server_error', 1033, 'AMBIGUOUS_SUBMIT'],
    [529, 'overloaded_error', null, 'RATE_LIMITED'],
  ])('%i %s (%s) is %s', async (status, kind, code, type) => {
    vendor.before = () => refusal(status, kind, code);
    await expect(submit('minimax-h3')).rejects.toMatchObject({ type });
  });

  test('has the delay of Retry-After, or ten seconds', async () => {
    vendor.before = () => refusal(429, 'rate_limit_error', 1002);
    await expect(submit('minimax-h3')).rejects.toMatchObject({ delayMs: 10_000 });
    vendor.before = () => ({ ...refusal(529, 'overloaded_error', null), headers: { 'retry-after': '4' } });
    await expect(submit('minimax-h3')).rejects.toMatchObject({ delayMs: 4000 });
  });

  test.each(['reset', 'garbage', 'html'] as const)('after a %s makes a submit ambiguous', async (mishap) => {
    vendor.after = () => mishap;
    await expect(submit('minimax-h3')).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
    await expect(poll()).rejects.toMatchObject({ type: 'TRANSIENT' });
    expect(vendor.orders).toHaveLength(1);
  });

  test('of a key is detected without a submit', async () => {
    await expect(family('wrong').probe?.(AbortSignal.timeout(5000))).rejects.toMatchObject({ type: 'AUTH' });
    expect(await family().probe?.(AbortSignal.timeout(5000))).toMatch(/^MiniMax accepts the key; without FAL_KEY/);
    expect(vendor.orders).toEqual([]);
  });
});

describe('a task', () => {
  beforeEach(() => submit('minimax-h3'));

  test.each([
    ['minimax-h3', 'queued', 0, 10_000],
    ['minimax-h3', 'running', 0.4, 10_000],
    ['minimax-h3-max', 'running', 0.4, 5000],
  ])('of %s that is %s is at %d, and is polled again after %i ms', async (model, status, progress, retryAfterMs) => {
    vendor.progress = () => ({ status });
    expect(await poll(model)).toEqual({ state: 'running', progress, retryAfterMs });
  });

  test.each<[string, StepErrorType]>([
    ['1026', 'CONTENT_POLICY'],
    ['1027', 'CONTENT_POLICY'],
    ['2013', 'INVALID_INPUT'],
    ['1008', 'BALANCE'],
    ['1000', 'PROVIDER_FAILED'],
    ['1002', 'PROVIDER_FAILED'],
  ])('that failed with %s is %s', async (code, type) => {
    vendor.progress = () => ({ status: 'failed', error: { code, message: 'for a reason' } });
    await expect(poll()).rejects.toMatchObject({ type });
  });

  test.each(['cancelled', 'expired'])('that is %s at the vendor has failed', async (status) => {
    vendor.progress = () => ({ status });
    await expect(poll()).rejects.toMatchObject({ type: 'PROVIDER_FAILED' });
  });

  test('returns a new URL after expiry, for a week', async () => {
    const download = async (polled: Awaited<ReturnType<typeof poll>>) => {
      if (polled.state !== 'succeeded') throw new Error('it is not done');
      return downloaded(family(), taskFor('minimax-h3'), polled.output);
    };
    const first = await poll();
    await download(first);
    vendor.now = () => Date.now() + 10 * 3_600_000;
    await expect(download(first)).rejects.toMatchObject({ type: 'RESULT_EXPIRED' });
    expect(await download(await poll())).toEqual(await mediaOf('minimax-h3', job().id));
    expect(vendor.requests.at(-1)?.headers.authorization).toBeUndefined();
    vendor.now = () => Date.now() + 8 * 24 * 3_600_000;
    await expect(poll()).rejects.toMatchObject({ type: 'RESULT_EXPIRED' });
  });

  test('is canceled only while it is queued, so that a result is never deleted', async () => {
    const cancel = () => family().cancel?.({ ...callFor(taskFor('minimax-h3')), job: job() });
    for (const status of ['running', 'succeeded', 'failed']) {
      vendor.progress = () => ({ status });
      await cancel();
    }
    expect(countDeletes()).toBe(0);
    vendor.progress = () => ({ status: 'queued' });
    await cancel();
    expect(vendor.orders[0]?.canceled).toBe(true);
    await cancel();
    expect(countDeletes()).toBe(1);
  });
});

testKeyedAccount(minimax, { key: 'MINIMAX_API_KEY', address: 'MINIMAX_BASE_URL' }, 'https://api.minimax.io');
testErrorCodes(
  'MiniMax',
  ERROR_CODES.flatMap(({ type, codes }) => [type, ...codes]),
  ERROR_CLASSES,
  meaningOf,
);
