import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { StepErrorType } from '../step-error.ts';
import { testKeyedAccount } from '../test/account.ts';
import { codesIn, testErrorCodes } from '../test/error-codes.ts';
import { readPictures } from './references.ts';
import { meaningOf, seedance } from './seedance.ts';
import { callFor, contextFor, downloaded, type Storage, startStorage, taskFor, token } from './test/asking.ts';
import { mediaOf } from './test/media.ts';
import { ARK_KEY, ERROR_CLASSES, ERROR_CODES, refusal, type SeedanceDouble, startSeedance } from './test/seedance.ts';

let vendor: SeedanceDouble;
let storage: Storage;
beforeAll(async () => {
  storage = await startStorage();
});
// Created once, outside the time limit of a test.
beforeAll(() => mediaOf('seedance-2.0', ''), 60_000);
afterAll(() => storage[Symbol.asyncDispose]());
beforeEach(async () => {
  vendor = await startSeedance();
});
afterEach(() => vendor[Symbol.asyncDispose]());

const family = (apiKey = ARK_KEY, context = contextFor()) =>
  seedance.open({ apiKey, baseUrl: vendor.baseUrl }, context);
const submit = (...asked: Parameters<typeof taskFor>) => family().submit(callFor(taskFor(...asked)));
const lastOrder = () => vendor.requests.findLast(({ method }) => method === 'POST')?.body;
const job = () => ({ id: vendor.orders[0]?.id ?? '' });
const poll = (configs = {}) => family().poll({ ...callFor(taskFor('seedance-2.5', { configs })), job: job() });
const countDeletes = () => vendor.requests.filter(({ method }) => method === 'DELETE').length;

describe('a submit', () => {
  test.each([
    ['seedance-2.5', 'dreamina-seedance-2-5-260628'],
    ['seedance-2.0', 'dreamina-seedance-2-0-260128'],
    ['seedance-2.0-fast', 'dreamina-seedance-2-0-fast-260128'],
    ['seedance-2.0-mini', 'dreamina-seedance-2-0-mini-260615'],
  ])('of %s sends every setting', async (outputModel, model) => {
    expect(await submit(outputModel)).toEqual({ job: job() });
    expect(lastOrder()).toEqual({
      model,
      content: [{ type: 'text', text: 'A lamp' }],
      resolution: '720p',
      ratio: '16:9',
      duration: 5,
      generate_audio: true,
      watermark: false,
      execution_expires_after: 7200,
    });
  });

  test.each([
    ['seedance-2.5', { resolution: '1080p', durationSeconds: 30, aspectRatio: '21:9', generateAudio: false }],
    ['seedance-2.0', { resolution: '4k', durationSeconds: 15, aspectRatio: '3:4', generateAudio: true }],
    ['seedance-2.0-fast', { resolution: '480p', durationSeconds: 4, aspectRatio: '1:1', generateAudio: false }],
  ])('of %s sends the settings of the request', async (model, configs) => {
    await submit(model, { configs });
    expect(lastOrder()).toMatchObject({
      resolution: configs.resolution,
      duration: configs.durationSeconds,
      ratio: configs.aspectRatio,
      generate_audio: configs.generateAudio,
    });
  });

  test.each([
    ['seedance-2.5', '@Image2 on @Image1'],
    ['seedance-2.0', '[Image 2] on [Image 1]'],
  ])('of %s sends pictures as references and names them', async (model, text) => {
    const attachments = [await storage.picture(1), await storage.picture(2, { format: 'jpeg' })];
    await submit(model, { prompt: `${token(2)} on ${token(1)}`, attachments });
    expect(lastOrder()).toMatchObject({
      ratio: '16:9',
      content: [
        { type: 'text', text },
        { type: 'image_url', image_url: { url: expect.stringMatching(/^data:image\/png;/) }, role: 'reference_image' },
        { type: 'image_url', image_url: { url: expect.stringMatching(/^data:image\/jpeg;/) }, role: 'reference_image' },
      ],
    });
  });

  test('uses the model names of Volcengine in China, or those of PROVIDER_MODEL_MAP', async () => {
    const asked: string[] = [];
    const providerModelId = (model: string, usual: string) => {
      asked.push(`${model}: ${usual}`);
      return 'own';
    };
    const context = { ...contextFor(), providerModelId };
    const china = seedance.open({ apiKey: ARK_KEY, baseUrl: 'https://ark.cn-beijing.volces.com/api/v3' }, context);
    await china.submit({ ...callFor(taskFor('seedance-2.5')), signal: AbortSignal.abort() }).catch(() => {});
    expect(asked).toEqual(['seedance-2.5: doubao-seedance-2-5-260628']);
    await family(ARK_KEY, context)
      .submit(callFor(taskFor('seedance-2.0')))
      .catch(() => {});
    expect(lastOrder()).toMatchObject({ model: 'own' });
  });

  test.each([
    ['too small', { width: 299 }],
    ['too long', { width: 1600, height: 400 }],
  ])('with a picture that is %s is refused', async (_, size) => {
    const attachments = [await storage.picture(3, size)];
    await expect(submit('seedance-2.0', { attachments })).rejects.toMatchObject({ type: 'INVALID_INPUT' });
    expect(vendor.requests).toEqual([]);
  });
});

test('pictures over the total limit are refused', async () => {
  const call = callFor(taskFor('seedance-2.0', { attachments: [await storage.picture(1), await storage.picture(2)] }));
  const size = call.task.attachments[0]?.content?.size ?? 0;
  const limits = { types: ['image/png'], maxBytes: size };
  expect(await readPictures(call, 'Seedance', { ...limits, maxTotalBytes: 2 * size })).toHaveLength(2);
  const together = readPictures(call, 'Seedance', { ...limits, maxTotalBytes: 2 * size - 1 });
  await expect(together).rejects.toMatchObject({ type: 'INVALID_INPUT', message: expect.stringContaining('together') });
});

describe('a refusal', () => {
  test.each<[number, string, StepErrorType]>([
    [400, 'MissingParameter', 'INVALID_INPUT'],
    [400, 'InvalidParameter', 'INVALID_INPUT'],
    [400, 'InvalidParameter.TaskTypeConstraint', 'INVALID_INPUT'],
    [400, 'InvalidParameter.OversizedImage', 'INVALID_INPUT'],
    [400, 'SensitiveContentDetected', 'CONTENT_POLICY'],
    [400, 'InputTextSensitiveContentDetected', 'CONTENT_POLICY'],
    [400, 'InputImageSensitiveContentDetected.PrivacyInformation', 'CONTENT_POLICY'],
    [400, 'OutputVideoSensitiveContentDetected.PolicyViolation', 'CONTENT_POLICY'],
    [400, 'InvalidEndpoint.ClosedEndpoint', 'TRANSIENT'],
    [401, 'AuthenticationError', 'AUTH'],
    [403, 'AccountOverdueError', 'BALANCE'],
    [403, 'AccessDenied', 'AUTH'],
    [403, 'OperationDenied.ServiceNotOpen', 'AUTH'],
    [404, 'ModelNotOpen', 'AUTH'],
    [404, 'InvalidEndpointOrModel.NotFound', 'AUTH'],
    [404, 'UnsupportedModel', 'AUTH'],
    [404, 'NotFound.Task', 'RESULT_EXPIRED'],
    [429, 'RateLimitExceeded.EndpointRPMExceeded', 'RATE_LIMITED'],
    [429, 'RateLimitExceeded.EndpointTPMExceeded', 'RATE_LIMITED'],
    [429, 'ModelAccountRpmRateLimitExceeded', 'RATE_LIMITED'],
    [429, 'ServerOverloaded', 'RATE_LIMITED'],
    [429, 'ModelLoadingError', 'RATE_LIMITED'],
    [429, 'QuotaExceeded', 'BALANCE'],
    [429, 'SetLimitExceeded', 'BALANCE'],
    [500, 'InternalServiceError', 'AMBIGUOUS_SUBMIT'],
    [400, 'SomethingNew', 'INVALID_INPUT'],
  ])('%i %s is %s', async (status, code, type) => {
    vendor.before = () => refusal(status, code);
    await expect(submit('seedance-2.0')).rejects.toMatchObject({ type });
  });

  test('has the delay of Retry-After, or ten seconds', async () => {
    vendor.before = () => refusal(429, 'ServerOverloaded');
    await expect(submit('seedance-2.0')).rejects.toMatchObject({ delayMs: 10_000 });
    vendor.before = () => ({ ...refusal(429, 'ServerOverloaded'), headers: { 'retry-after': '3' } });
    await expect(submit('seedance-2.0')).rejects.toMatchObject({ delayMs: 3000 });
  });

  test.each(['reset', 'garbage', 'html'] as const)('after a %s makes a submit ambiguous', async (mishap) => {
    vendor.after = () => mishap;
    await expect(submit('seedance-2.0')).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
    await expect(poll()).rejects.toMatchObject({ type: 'TRANSIENT' });
    expect(vendor.orders).toHaveLength(1);
  });

  test('of a key is detected without a submit', async () => {
    await expect(family('wrong').probe?.(AbortSignal.timeout(5000))).rejects.toMatchObject({ type: 'AUTH' });
    expect(await family().probe?.(AbortSignal.timeout(5000))).toBe('Ark accepts the key');
    expect(vendor.orders).toEqual([]);
  });
});

describe('a task', () => {
  beforeEach(() => submit('seedance-2.5'));

  test.each([
    ['queued', 0, 5, 15_000],
    ['running', 0.4, 15, 15_000],
    ['running', 0.4, 16, 30_000],
  ])(
    'that is %s is at %d, and of %i seconds is polled again after %i ms',
    async (status, progress, durationSeconds, retryAfterMs) => {
      vendor.progress = () => ({ status });
      expect(await poll({ durationSeconds })).toEqual({ state: 'running', progress, retryAfterMs });
    },
  );

  test.each<[string, StepErrorType]>([
    ['OutputVideoSensitiveContentDetected', 'CONTENT_POLICY'],
    ['OutputAudioSensitiveContentDetected', 'CONTENT_POLICY'],
    ['InvalidParameter.UnsupportedImageFormat', 'INVALID_INPUT'],
    ['InternalServiceError', 'PROVIDER_FAILED'],
    ['ServerOverloaded', 'PROVIDER_FAILED'],
  ])('that failed with %s is %s, with the reason', async (code, type) => {
    vendor.progress = () => ({ status: 'failed', error: { code, message: 'for a reason' } });
    await expect(poll()).rejects.toMatchObject({ type, message: expect.stringContaining(`for a reason (${code})`) });
  });

  test.each(['cancelled', 'expired'])('that is %s at the vendor has failed', async (status) => {
    vendor.progress = () => ({ status });
    await expect(poll()).rejects.toMatchObject({ type: 'PROVIDER_FAILED' });
  });

  test('that has succeeded keeps its video for a day and its record for a week', async () => {
    const polled = await poll();
    if (polled.state !== 'succeeded') throw new Error('it is not done');
    const download = () => downloaded(family(), taskFor('seedance-2.5'), polled.output);
    expect(await download()).toEqual(await mediaOf('seedance-2.0', job().id));
    expect(vendor.requests.at(-1)?.headers.authorization).toBeUndefined();
    vendor.now = () => Date.now() + 25 * 3_600_000;
    await expect(download()).rejects.toMatchObject({ type: 'RESULT_EXPIRED' });
    vendor.now = () => Date.now() + 8 * 24 * 3_600_000;
    await expect(poll()).rejects.toMatchObject({ type: 'RESULT_EXPIRED' });
  });

  test('is canceled only while it is queued, so that a result is never deleted', async () => {
    const cancel = () => family().cancel?.({ ...callFor(taskFor('seedance-2.5')), job: job() });
    for (const status of ['running', 'succeeded', 'failed', 'expired']) {
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

  test('that starts during the cancellation continues', async () => {
    vendor.progress = () => ({ status: 'queued' });
    vendor.before = ({ method }) => {
      if (method === 'DELETE') vendor.progress = () => ({ status: 'running' });
      return undefined;
    };
    const cancel = () => family().cancel?.({ ...callFor(taskFor('seedance-2.5')), job: job() });
    await expect(cancel()).resolves.toBeUndefined();
    expect([countDeletes(), vendor.orders[0]?.canceled]).toEqual([1, false]);
    vendor.progress = () => ({ status: 'queued' });
    vendor.before = ({ method }) => (method === 'DELETE' ? refusal(500, 'InternalServiceError') : undefined);
    await expect(cancel()).rejects.toMatchObject({ type: 'TRANSIENT' });
  });
});

testKeyedAccount(
  seedance,
  { key: 'ARK_API_KEY', address: 'ARK_BASE_URL' },
  'https://ark.ap-southeast.bytepluses.com/api/v3',
);
testErrorCodes('Ark', codesIn(ERROR_CODES), ERROR_CLASSES, meaningOf);
