import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { REFUSING_ADDRESS } from '../../../../scripts/free-port.ts';
import type { StepErrorType } from '../step-error.ts';
import { testKeyedAccount } from '../test/account.ts';
import { codesIn, testErrorCodes } from '../test/error-codes.ts';
import { kling, meaningOf } from './kling.ts';
import { callFor, contextFor, downloaded, idOf, type Storage, startStorage, taskFor, token } from './test/asking.ts';
import { ERROR_CLASSES, ERROR_CODES, KLING_KEY, type KlingDouble, startKling } from './test/kling.ts';
import { mediaOf } from './test/media.ts';

let vendor: KlingDouble;
let storage: Storage;
beforeAll(async () => {
  storage = await startStorage();
});
// Created once, outside the time limit of a test.
beforeAll(() => mediaOf('kling-3.0', ''), 60_000);
afterAll(() => storage[Symbol.asyncDispose]());
beforeEach(async () => {
  vendor = await startKling();
});
afterEach(async () => {
  vi.useRealTimers();
  await vendor[Symbol.asyncDispose]();
});

const family = (apiKey = KLING_KEY, context = contextFor()) => kling.open({ apiKey, baseUrl: vendor.url }, context);
const submit = (...asked: Parameters<typeof taskFor>) => family().submit(callFor(taskFor(...asked)));
const poll = (id: string, orderedAt = Date.now()) =>
  family().poll({ ...callFor(taskFor('kling-3.0')), job: { id, orderedAt } });
const lastOrder = () => vendor.requests.findLast(({ method, path }) => method === 'POST' && path !== '/tasks');
const OPTIONS = { external_task_id: `${idOf(0)}-submit`, watermark_info: { enabled: false } };

describe('a submit', () => {
  test.each([
    ['kling-3.0', {}, { resolution: '720p', duration: 5, aspect_ratio: '16:9', audio: 'native', multi_shot: false }],
    [
      'kling-3.0',
      { resolution: '1080p', durationSeconds: 15, aspectRatio: '9:16', generateAudio: false },
      { resolution: '1080p', duration: 15, aspect_ratio: '9:16', audio: 'off', multi_shot: false },
    ],
    ['kling-3.0-turbo', {}, { resolution: '720p', duration: 5, aspect_ratio: '16:9' }],
    [
      'kling-3.0-turbo',
      { resolution: '1080p', durationSeconds: 3, aspectRatio: '1:1', generateAudio: false },
      { resolution: '1080p', duration: 3, aspect_ratio: '1:1' },
    ],
  ])('of %s with %o sends only text', async (model, configs, settings) => {
    expect(await submit(model, { configs })).toEqual({
      job: { id: vendor.orders[0]?.id, orderedAt: expect.any(Number) },
    });
    expect(lastOrder()).toMatchObject({
      path: `/text-to-video/${model}`,
      body: { prompt: 'A lamp', settings, options: OPTIONS },
    });
  });

  test.each([
    ['kling-3.0-turbo', 1, { resolution: '720p', duration: 5 }],
    ['kling-3.0', 1, { resolution: '720p', duration: 5, audio: 'native', multi_shot: false }],
    ['kling-3.0', 2, { resolution: '720p', duration: 5, audio: 'native', multi_shot: false }],
  ])(
    'of %s with %i pictures sends them as frames, with a warning about the aspect ratio',
    async (model, count, settings) => {
      const attachments = [await storage.picture(1), await storage.picture(2, { format: 'jpeg' })].slice(0, count);
      const submitted = await submit(model, { prompt: `From ${token(1)}, to ${token(2)}`, attachments });
      expect(submitted.warnings).toEqual([expect.stringContaining('16:9')]);
      const frames = [
        { type: 'first_frame', url: expect.stringMatching(/^iVBOR/) },
        { type: 'last_frame', url: expect.stringMatching(/^\/9j\//) },
      ].slice(0, count);
      const text = count === 2 ? 'From the first frame, to the last frame' : `From the first frame, to ${token(2)}`;
      expect(lastOrder()?.path).toBe(`/image-to-video/${model}`);
      expect(lastOrder()?.body).toEqual({
        contents: [{ type: 'prompt', text }, ...frames],
        settings,
        options: OPTIONS,
      });
    },
  );

  test('of the omni model names the pictures', async () => {
    const numbers = [1, 2, 3, 4, 5];
    const attachments = await Promise.all(numbers.map((number) => storage.picture(number)));
    const submitted = await submit('kling-3.0-omni', { prompt: `${token(2)} beside ${token(1)}`, attachments });
    expect(submitted.warnings).toBeUndefined();
    expect(lastOrder()?.path).toBe('/omni-video/kling-3.0-omni');
    expect(lastOrder()?.body).toEqual({
      contents: [
        { type: 'prompt', text: '@image_2 beside @image_1' },
        ...numbers.map((number) => ({ type: 'refer_image', url: expect.any(String), id: `image_${number}` })),
      ],
      settings: { resolution: '720p', duration: 5, aspect_ratio: '16:9', audio: 'native', multi_shot: false },
      options: OPTIONS,
    });
  });

  test('uses the model of PROVIDER_MODEL_MAP', async () => {
    const context = { ...contextFor(), providerModelId: () => 'kling-3.0-turbo' };
    await family(KLING_KEY, context).submit(callFor(taskFor('kling-3.0-turbo')));
    expect(lastOrder()?.path).toBe('/text-to-video/kling-3.0-turbo');
  });

  test('converts other types to PNG, and refuses a picture that is too small', async () => {
    await submit('kling-3.0', { attachments: [await storage.picture(6, { format: 'webp' })] });
    expect(vendor.orders).toHaveLength(1);
    const small = submit('kling-3.0', { attachments: [await storage.picture(7, { width: 299 })] });
    await expect(small).rejects.toMatchObject({ type: 'INVALID_INPUT', message: expect.stringContaining('299x320') });
    expect(vendor.orders).toHaveLength(1);
  });

  test('of the turbo model has a lower prompt limit with a picture', async () => {
    const prompt = 'x'.repeat(2501);
    const attachments = [await storage.picture(1)];
    expect(() => family().check(taskFor('kling-3.0-turbo', { prompt, attachments }))).toThrow('2500');
    for (const asked of [{ prompt }, { prompt: prompt.slice(1), attachments }]) {
      family().check(taskFor('kling-3.0-turbo', asked));
    }
    family().check(taskFor('kling-3.0', { prompt, attachments }));
  });
});

describe('a submit without an answer', () => {
  test.each([
    ['that was taken', () => ({ status: 504, body: { code: 5002, message: 'timeout' } })],
    ['that was reset', () => 'reset' as const],
    ['that was garbled', () => 'garbage' as const],
    ['that was answered by a page', () => 'html' as const],
  ])('%s is ambiguous, and is found by its external id', async (_, mishap) => {
    vendor.after = ({ method }) => (method === 'POST' ? mishap() : undefined);
    const attachments = [await storage.picture(1)];
    const call = callFor(taskFor('kling-3.0', { attachments }));
    await expect(family().submit(call)).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
    const found = await family().lookUp?.(call);
    expect(found).toMatchObject({ job: { id: vendor.orders[0]?.id }, warnings: [expect.stringContaining('16:9')] });
    expect(vendor.orders).toHaveLength(1);
  });

  test('that was not accepted is not found', async () => {
    expect(await family().lookUp?.(callFor(taskFor('kling-3.0')))).toBeNull();
  });

  test('creates no second task when it is repeated', async () => {
    const first = await submit('kling-3.0');
    expect(await submit('kling-3.0')).toMatchObject({ job: { id: 'job' in first ? first.job.id : '' } });
    expect(vendor.orders).toHaveLength(1);
  });

  test('that is a duplicate but not listed yet is looked up again until it is found', async () => {
    await submit('kling-3.0');
    vendor.isVisible = () => false;
    for (const _ of [1, 2, 3]) {
      await expect(submit('kling-3.0')).rejects.toMatchObject({ type: 'NOT_READY', retryable: true, delayMs: 5000 });
    }
    vendor.isVisible = () => true;
    expect(await submit('kling-3.0')).toMatchObject({ job: { id: vendor.orders[0]?.id } });
    expect(vendor.orders).toHaveLength(1);
  });

  test('is TRANSIENT if the connection is refused', async () => {
    const nowhere = kling.open({ apiKey: KLING_KEY, baseUrl: REFUSING_ADDRESS }, contextFor());
    await expect(nowhere.submit(callFor(taskFor('kling-3.0')))).rejects.toMatchObject({ type: 'TRANSIENT' });
  });
});

describe('a refusal', () => {
  test.each<[number, number, StepErrorType]>([
    [401, 1000, 'AUTH'],
    [401, 1001, 'AUTH'],
    [401, 1002, 'AUTH'],
    [401, 1003, 'AUTH'],
    [401, 1004, 'AUTH'],
    [429, 1100, 'AUTH'],
    [429, 1101, 'BALANCE'],
    [429, 1102, 'BALANCE'],
    [403, 1103, 'AUTH'],
    [400, 1200, 'INVALID_INPUT'],
    [400, 1201, 'INVALID_INPUT'],
    [404, 1202, 'INVALID_INPUT'],
    [404, 1203, 'INVALID_INPUT'],
    [400, 1300, 'CONTENT_POLICY'],
    [400, 1301, 'CONTENT_POLICY'],
    [429, 1302, 'RATE_LIMITED'],
    [429, 1303, 'RATE_LIMITED'],
    [429, 1304, 'AUTH'],
    [500, 5000, 'AMBIGUOUS_SUBMIT'],
    [503, 5001, 'AMBIGUOUS_SUBMIT'],
    [504, 5002, 'AMBIGUOUS_SUBMIT'],
    [200, 1301, 'CONTENT_POLICY'],
    [200, 9999, 'AMBIGUOUS_SUBMIT'],
    [418, 9999, 'INVALID_INPUT'],
  ])('%i with the code %i is %s', async (status, code, type) => {
    vendor.before = ({ method }) => (method === 'POST' ? { status, body: { code, message: 'no' } } : undefined);
    await expect(submit('kling-3.0')).rejects.toMatchObject({ type });
  });

  test('of a task over the limit has a delay', async () => {
    vendor.slots = 1;
    vendor.progress = () => ({ status: 'processing' });
    await submit('kling-3.0');
    const second = family().submit({ ...callFor(taskFor('kling-3.0')), clientJobId: 'FX2-submit' });
    await expect(second).rejects.toMatchObject({ type: 'RATE_LIMITED', delayMs: 5000 });
    vendor.before = () => ({ status: 429, headers: { 'retry-after': '7' }, body: { code: 1303, message: 'busy' } });
    await expect(submit('kling-3.0')).rejects.toMatchObject({ type: 'RATE_LIMITED', delayMs: 7000 });
  });

  test('of a key is AUTH, without the key in the message', async () => {
    vendor.before = () => ({ status: 401, body: { code: 1002, message: `the key eyJh.eyJp.c2ln is wrong` } });
    const refused = family('eyJh.eyJp.c2ln').submit(callFor(taskFor('kling-3.0')));
    await expect(refused).rejects.toMatchObject({ type: 'AUTH', message: expect.not.stringContaining('eyJh') });
  });

  test('of a signed token of the old API is AUTH', async () => {
    await expect(family('eyJh.eyJp.c2ln').probe?.(AbortSignal.timeout(5000))).rejects.toMatchObject({ type: 'AUTH' });
    expect(await family().probe?.(AbortSignal.timeout(5000))).toBe('Kling accepts the key');
    expect(vendor.orders).toEqual([]);
  });
});

describe('a task', () => {
  beforeEach(() => submit('kling-3.0'));
  const id = () => vendor.orders[0]?.id ?? '';

  test.each([
    ['submitted', 0],
    ['processing', 0.4],
  ])('that is %s is polled again after ten seconds', async (status, progress) => {
    vendor.progress = () => ({ status });
    expect(await poll(id())).toEqual({ state: 'running', progress, retryAfterMs: 10_000 });
  });

  test.each(['succeeded', 'succeed'])('that %s has its video', async (status) => {
    vendor.progress = () => ({ status });
    const polled = await poll(id());
    if (polled.state !== 'succeeded') throw new Error('it is not done');
    const video = await downloaded(family(), taskFor('kling-3.0'), polled.output);
    expect(video).toEqual(await mediaOf('kling-3.0', id()));
    expect(vendor.requests.at(-1)?.headers.authorization).toBeUndefined();
  });

  test.each<[string, StepErrorType]>([
    ['Failure to pass the risk control system', 'CONTENT_POLICY'],
    ['The content violates the policy', 'CONTENT_POLICY'],
    ['sensitive words', 'CONTENT_POLICY'],
    ['The renderer broke', 'PROVIDER_FAILED'],
    ['', 'PROVIDER_FAILED'],
  ])('that failed for "%s" is %s', async (message, type) => {
    vendor.progress = () => ({ status: 'failed', message });
    await expect(poll(id())).rejects.toMatchObject({ type, message: expect.stringContaining(message) });
  });

  test('without a video has failed', async () => {
    vendor.before = () => ({ body: { code: 0, data: [{ id: id(), status: 'succeeded', outputs: [] }] } });
    await expect(poll(id())).rejects.toMatchObject({ type: 'PROVIDER_FAILED' });
  });

  test('that is not listed yet counts as running, and later as expired', async () => {
    expect(await poll('1')).toMatchObject({ state: 'running', progress: 0 });
    await expect(poll('1', Date.now() - 121_000)).rejects.toMatchObject({ type: 'RESULT_EXPIRED' });
    vendor.now = () => Date.now() + 31 * 24 * 3_600_000;
    await expect(poll(id(), 0)).rejects.toMatchObject({ type: 'RESULT_EXPIRED' });
  });

  test.each(['reset', 'garbage', 'html'] as const)('is polled again after a %s', async (mishap) => {
    vendor.after = () => mishap;
    await expect(poll(id())).rejects.toMatchObject({ type: 'TRANSIENT' });
  });
});

testKeyedAccount(kling, { key: 'KLING_API_KEY', address: 'KLING_BASE_URL' }, 'https://api-singapore.klingai.com');
testErrorCodes('Kling', codesIn(ERROR_CODES), ERROR_CLASSES, meaningOf);
