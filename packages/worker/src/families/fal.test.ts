import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { StepErrorType } from '../step-error.ts';
import { testErrorCodes } from '../test/error-codes.ts';
import { meaningOf } from './fal.ts';
import { minimax } from './minimax.ts';
import { callFor, contextFor, downloaded, startStorage, taskFor, token } from './test/asking.ts';
import { ERROR_CLASSES, ERROR_CODES, FAL_KEY, type FalDouble, startFal } from './test/fal.ts';
import { mediaOf } from './test/media.ts';
import { MINIMAX_KEY, type MinimaxDouble, startMinimax } from './test/minimax.ts';

let vendor: FalDouble;
let other: MinimaxDouble;
// Created once, outside the time limit of a test.
beforeAll(() => mediaOf('minimax-h3-max', ''), 60_000);
beforeEach(async () => {
  [vendor, other] = await Promise.all([startFal(), startMinimax()]);
});
afterEach(() => Promise.all([vendor[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]));

const family = (apiKey = FAL_KEY) =>
  minimax.open({ apiKey: MINIMAX_KEY, baseUrl: other.url, fal: { apiKey, queueUrl: vendor.url } }, contextFor());
const fullHd = (asked: Parameters<typeof taskFor>[1] = {}) =>
  taskFor('minimax-h3-max', { ...asked, configs: { ...asked.configs, resolution: '1080p' } });
const submit = (asked?: Parameters<typeof taskFor>[1]) => family().submit(callFor(fullHd(asked)));
const lastOrder = () => vendor.requests.findLast(({ method }) => method === 'POST');
const job = (urls?: object) => ({ id: vendor.orders[0]?.id ?? '', urls });
const poll = () => family().poll({ ...callFor(fullHd()), job: job() });

describe('H3 Max at 1080p', () => {
  test('is submitted to fal only', async () => {
    family().check(fullHd());
    expect(await submit({ configs: { durationSeconds: 7, aspectRatio: '9:16' } })).toMatchObject({
      job: { id: job().id },
    });
    expect(lastOrder()).toMatchObject({
      path: '/minimax/h3-max/text-to-video',
      headers: { authorization: `Key ${FAL_KEY}` },
    });
    expect(lastOrder()?.body).toEqual({
      prompt: 'A lamp',
      resolution: '1080P',
      duration: 7,
      aspect_ratio: '9:16',
      prompt_expansion_mode: 'disabled',
    });
    expect(other.requests).toEqual([]);
    await family().submit(callFor(taskFor('minimax-h3-max')));
    expect([vendor.orders.length, other.orders.length]).toEqual([1, 1]);
  });

  test('sends pictures as references', async () => {
    await using storage = await startStorage();
    const attachments = [await storage.picture(1), await storage.picture(2)];
    await submit({ prompt: `${token(2)} on ${token(1)}`, attachments });
    expect(lastOrder()).toMatchObject({
      path: '/minimax/h3-max/reference-to-video',
      body: {
        prompt: 'Image 2 on Image 1',
        reference_image_urls: [expect.stringMatching(/^data:image\/png;/), expect.anything()],
      },
    });
    expect(await poll()).toMatchObject({ state: 'succeeded' });
  });

  test.each([
    ['IN_QUEUE', 0],
    ['IN_PROGRESS', 0.4],
  ])('%s is polled again after five seconds', async (status, progress) => {
    await submit();
    vendor.progress = () => ({ status });
    expect(await poll()).toEqual({ state: 'running', progress, retryAfterMs: 5000 });
  });

  test('is downloaded without the key', async () => {
    await submit();
    const polled = await poll();
    if (polled.state !== 'succeeded') throw new Error('it is not done');
    const video = await downloaded(family(), fullHd(), polled.output);
    expect(video).toEqual(await mediaOf('minimax-h3-max', job().id));
    expect(vendor.requests.at(-1)?.headers.authorization).toBeUndefined();
  });

  const NAMED = { status: '/elsewhere/1/status?logs=0', response: '/elsewhere/1', cancel: '/elsewhere/1/cancel' };
  const urlsAt = (origin: string) =>
    Object.fromEntries(Object.entries(NAMED).map(([action, path]) => [action, origin + path]));

  test('is polled at the URLs that fal returns', async () => {
    vendor.after = ({ method }) => {
      if (method !== 'POST') return undefined;
      const { status: status_url, response: response_url, cancel: cancel_url } = urlsAt(vendor.url);
      return { body: { request_id: job().id, status_url, response_url, cancel_url } };
    };
    const submitted = await submit();
    if (!('job' in submitted)) throw new Error('there is no job');
    vendor.before = ({ path }) => (path.endsWith('/status') ? { body: { status: 'IN_PROGRESS' } } : { body: {} });
    const call = { ...callFor(fullHd()), job: JSON.parse(JSON.stringify(submitted.job)) };
    await family().poll(call);
    await family().cancel?.(call);
    vendor.before = ({ path }) =>
      path.endsWith('/status')
        ? { body: { status: 'COMPLETED' } }
        : { body: { video: { url: 'https://x.example/1' } } };
    expect(await family().poll(call)).toEqual({ state: 'succeeded', output: { url: 'https://x.example/1' } });
    expect(vendor.requests.slice(1).map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /elsewhere/1/status',
      'GET /elsewhere/1/status',
      'PUT /elsewhere/1/cancel',
      'GET /elsewhere/1/status',
      'GET /elsewhere/1',
    ]);
  });

  test.each([
    ['another host', () => urlsAt(other.url)],
    ['no address', () => ({ status: 'status', response: 7, cancel: null })],
    ['nothing', () => undefined],
  ])('is polled at the default URL if fal returns %s, so that the key stays with fal', async (_, urls) => {
    await submit();
    const call = { ...callFor(fullHd()), job: job(urls()) };
    expect(await family().poll(call)).toMatchObject({ state: 'succeeded' });
    vendor.progress = () => ({ status: 'IN_QUEUE' });
    await family().cancel?.(call);
    expect(vendor.orders[0]?.canceled).toBe(true);
    expect(other.requests).toEqual([]);
  });

  test('is canceled unless it is done', async () => {
    await submit();
    const cancel = () => family().cancel?.({ ...callFor(fullHd()), job: job() });
    await cancel();
    expect(vendor.orders[0]?.canceled).toBe(false);
    vendor.progress = () => ({ status: 'IN_PROGRESS' });
    await cancel();
    expect(vendor.orders[0]?.canceled).toBe(true);
  });
});

describe('a refusal', () => {
  test.each<[number, object, StepErrorType]>([
    [401, { detail: 'No access' }, 'AUTH'],
    [403, { detail: 'Forbidden' }, 'AUTH'],
    [403, { detail: 'User is locked. Reason: Exhausted balance.' }, 'BALANCE'],
    [422, { detail: [{ loc: ['body'], msg: 'no', type: 'value_error' }] }, 'INVALID_INPUT'],
    [422, { detail: [{ loc: ['body'], msg: 'no', type: 'content_policy_violation' }] }, 'CONTENT_POLICY'],
    [429, { detail: 'too fast' }, 'RATE_LIMITED'],
    [500, { detail: 'broken' }, 'AMBIGUOUS_SUBMIT'],
    [503, {}, 'AMBIGUOUS_SUBMIT'],
  ])('%i %o is %s, and the submit is sent once', async (status, body, type) => {
    vendor.before = () => ({ status, body });
    await expect(submit()).rejects.toMatchObject({ type });
    expect(vendor.requests).toHaveLength(1);
  });

  test.each(['reset', 'garbage', 'html'] as const)('after a %s the submit is ambiguous', async (mishap) => {
    vendor.after = () => mishap;
    await expect(submit()).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
    await expect(poll()).rejects.toMatchObject({ type: 'TRANSIENT' });
    expect(vendor.orders).toHaveLength(1);
  });

  test('in the result is read too', async () => {
    await submit({ configs: { durationSeconds: 4 } });
    await expect(poll()).rejects.toMatchObject({ type: 'INVALID_INPUT' });
    vendor.progress = () => ({ status: 'COMPLETED', error: 'flagged', error_type: 'content_policy_violation' });
    await expect(poll()).rejects.toMatchObject({ type: 'CONTENT_POLICY' });
    vendor.progress = () => ({ status: 'COMPLETED', error: 'the runner broke', error_type: 'runner_error' });
    await expect(poll()).rejects.toMatchObject({ type: 'PROVIDER_FAILED' });
  });

  test.each<[number, object, StepErrorType]>([
    [504, {}, 'PROVIDER_FAILED'],
    [504, { detail: 'Request timed out', error_type: 'request_timeout' }, 'PROVIDER_FAILED'],
    [503, { detail: 'Runner is gone', error_type: 'runner_disconnected' }, 'PROVIDER_FAILED'],
    [500, { detail: [{ loc: ['body'], msg: 'no', type: 'internal_server_error' }] }, 'PROVIDER_FAILED'],
    [502, {}, 'TRANSIENT'],
    [429, { detail: 'too fast' }, 'RATE_LIMITED'],
  ])('of a result that answers %i %o is %s', async (status, body, type) => {
    await submit();
    vendor.before = ({ path }) => (path.endsWith('/status') ? undefined : { status, body });
    await expect(poll()).rejects.toMatchObject({ type });
  });

  test('of an expired request, or of an unknown key', async () => {
    await expect(poll()).rejects.toMatchObject({ type: 'RESULT_EXPIRED' });
    const probe = (apiKey?: string) => family(apiKey).probe?.(AbortSignal.timeout(5000));
    await expect(probe('wrong')).rejects.toMatchObject({ type: 'AUTH' });
    expect(await probe()).toBe('MiniMax accepts the key; fal accepts the key');
  });
});

testErrorCodes('fal', [...ERROR_CODES.model, ...ERROR_CODES.request], ERROR_CLASSES, meaningOf);
