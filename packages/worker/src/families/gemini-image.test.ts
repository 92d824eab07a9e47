import type { WorkerTask } from '@review/contract';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { testKeyedAccount } from '../test/account.ts';
import { testErrorCodes } from '../test/error-codes.ts';
import { geminiImage } from './gemini-image.ts';
import { meaningOf } from './google.ts';
import { callFor, contextFor, downloaded, type Storage, startStorage, taskFor, token } from './test/asking.ts';
import { type Reply, startDouble } from './test/double.ts';
import {
  ERROR_CLASSES,
  ERROR_CODES,
  GOOGLE_KEY,
  type GoogleDouble,
  googleError,
  retryInfo,
  startGoogle,
} from './test/google.ts';

const MODEL = 'gemini-3-pro-image';
let storage: Storage;
let google: GoogleDouble;
beforeAll(async () => {
  storage = await startStorage();
});
afterAll(async () => {
  await storage[Symbol.asyncDispose]();
});
beforeEach(async () => {
  google = await startGoogle();
  return () => google[Symbol.asyncDispose]();
});

const familyFor = (apiKey = GOOGLE_KEY, context = contextFor()) =>
  geminiImage.open({ apiKey, baseUrl: google.url }, context);

async function pictureOf(task: WorkerTask, family = familyFor()): Promise<Buffer> {
  const submitted = await family.submit(callFor(task));
  if (!('done' in submitted)) throw new Error('there is a job');
  return downloaded(family, task, submitted.done);
}

const refusedWith = (task = taskFor(MODEL), family = familyFor()) =>
  family.submit(callFor(task)).then(
    () => expect.fail('it was taken'),
    (error: unknown) => error,
  );

test.each([MODEL, 'gemini-3.1-flash-image', 'gemini-3.1-flash-lite-image'])(
  '%s: sends the prompt and returns the final picture',
  async (model) => {
    expect(await pictureOf(taskFor(model))).toEqual(google.picture);
    const [request] = google.requests;
    expect(request?.path).toBe(`/v1beta/models/${model}:generateContent`);
    expect(request?.headers['x-goog-api-key']).toBe(GOOGLE_KEY);
    expect(request?.body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'A lamp' }] }],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { imageSize: '1K' } },
    });
  },
);

test('attachments are sent before the prompt, each with its label', async () => {
  const attachments = [await storage.picture(1, { format: 'jpeg' }), await storage.picture(2, { format: 'gif' })];
  const prompt = `${token(2)} on ${token(1)}`;
  await pictureOf(taskFor(MODEL, { prompt, attachments }));
  const part = (mimeType: string) => ({ inlineData: { mimeType, data: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/) } });
  expect(google.requests[0]?.body).toMatchObject({
    contents: [
      {
        parts: [
          { text: 'image 1:' },
          part('image/jpeg'),
          { text: 'image 2:' },
          part('image/png'),
          { text: 'image 2 on image 1' },
        ],
      },
    ],
  });
});

test('attachments over the total limit are refused before any request', async () => {
  const [first, second] = [await storage.picture(1), await storage.picture(2)];
  // Decoders skip bytes after the end of a picture.
  const padded = async (number: number, { content }: typeof first) => {
    const bytes = Buffer.from(await (await fetch(content?.url ?? '')).arrayBuffer());
    return storage.attach(number, 'large.png', 'image/png', Buffer.concat([bytes, Buffer.alloc(8 * 1024 * 1024)]));
  };
  const attachments = [await padded(1, first), await padded(2, second)];
  expect(await refusedWith(taskFor(MODEL, { attachments }))).toMatchObject({ type: 'INVALID_INPUT' });
  expect(google.requests).toEqual([]);
});

test('PROVIDER_MODEL_MAP overrides the model name', async () => {
  const context = contextFor({ [MODEL]: 'gemini-3.1-flash-image' });
  await pictureOf(taskFor(MODEL), familyFor(GOOGLE_KEY, context));
  expect(google.requests[0]?.path).toBe('/v1beta/models/gemini-3.1-flash-image:generateContent');
});

const finished = (finishReason: string, parts: object[] = []) => ({
  candidates: [{ finishReason, content: { parts } }],
});

test.each([
  ...['SAFETY', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'IMAGE_SAFETY', 'OTHER', 'MODEL_ARMOR', 'JAILBREAK'].map(
    (blockReason) => [`prompt: ${blockReason}`, { promptFeedback: { blockReason } }, 'CONTENT_POLICY'] as const,
  ),
  ...[
    ...['IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION', 'SAFETY', 'PROHIBITED_CONTENT'],
    ...['BLOCKLIST', 'SPII', 'RECITATION'],
  ].map((reason) => [`picture: ${reason}`, finished(reason), 'CONTENT_POLICY'] as const),
  ...['NO_IMAGE', 'IMAGE_OTHER', 'OTHER', 'MAX_TOKENS', 'MALFORMED_FUNCTION_CALL', 'SOMETHING_NEW'].map(
    (reason) => [`picture: ${reason}`, finished(reason), 'PROVIDER_FAILED'] as const,
  ),
  ['nothing at all', {}, 'PROVIDER_FAILED'],
] as const)('an answer without a picture (%s)', async (name, answer, type) => {
  google.answer = () => answer;
  const error = await refusedWith();
  expect(error).toMatchObject({ type });
  expect(String(error)).toContain(name.split(': ')[1] ?? 'no reason given');
  expect(google.orders).toHaveLength(1);
});

test('an answer with text only is PROVIDER_FAILED with that text', async () => {
  google.answer = () => finished('STOP', [{ text: 'I would rather' }, { text: 'not draw.' }]);
  expect(await refusedWith()).toMatchObject({
    type: 'PROVIDER_FAILED',
    message: 'Gemini failed: I would rather not draw.',
  });
});

test('a draft is no picture', async () => {
  google.answer = () => finished('STOP', [{ thought: true, inlineData: { mimeType: 'image/png', data: 'ZHJhZnQ=' } }]);
  expect(await refusedWith()).toMatchObject({ type: 'PROVIDER_FAILED' });
});

const perDay = {
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }],
};

test.each<[string, Reply, object]>([
  [
    '400',
    googleError(400, 'INVALID_ARGUMENT', 'Unable to process input image.'),
    { type: 'INVALID_INPUT', message: 'Gemini does not accept the request: Unable to process input image.' },
  ],
  [
    'wrong key',
    googleError(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'),
    { type: 'AUTH' },
  ],
  [
    'region',
    googleError(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
    { type: 'AUTH' },
  ],
  ['401', googleError(401, 'UNAUTHENTICATED', 'Who?'), { type: 'AUTH' }],
  ['403', googleError(403, 'PERMISSION_DENIED', 'No.'), { type: 'AUTH' }],
  ['404', googleError(404, 'NOT_FOUND', 'No such model.'), { type: 'AUTH' }],
  [
    '429 with a delay',
    googleError(429, 'RESOURCE_EXHAUSTED', 'Slow.', [retryInfo('38s')]),
    { type: 'RATE_LIMITED', delayMs: 38_000 },
  ],
  [
    '429 with a fraction',
    googleError(429, 'RESOURCE_EXHAUSTED', 'Slow.', [retryInfo('1.5s')]),
    { type: 'RATE_LIMITED', delayMs: 1500 },
  ],
  ['429 without', googleError(429, 'RESOURCE_EXHAUSTED', 'Slow.'), { type: 'RATE_LIMITED', delayMs: undefined }],
  ['429 for hours', googleError(429, 'RESOURCE_EXHAUSTED', 'Slow.', [retryInfo('3601s')]), { type: 'BALANCE' }],
  ['429 for the day', googleError(429, 'RESOURCE_EXHAUSTED', 'Slow.', [perDay, retryInfo('38s')]), { type: 'BALANCE' }],
  ['500', googleError(500, 'INTERNAL', 'Oops.'), { type: 'AMBIGUOUS_SUBMIT' }],
  ['503', googleError(503, 'UNAVAILABLE', 'The model is overloaded.'), { type: 'TRANSIENT' }],
  [
    '503 of a proxy',
    { status: 503, headers: { 'content-type': 'text/html' }, body: '<h1>No</h1>' },
    { type: 'AMBIGUOUS_SUBMIT' },
  ],
  ['504', googleError(504, 'DEADLINE_EXCEEDED', 'Too long.'), { type: 'AMBIGUOUS_SUBMIT' }],
])('%s, once', async (_name, reply, error) => {
  google.before = () => reply;
  expect(await refusedWith()).toMatchObject(error);
  expect(google.requests).toHaveLength(1);
});

test('a redirect is not followed, because it would forward the key', async () => {
  await using elsewhere = await startDouble(() => ({}));
  google.before = () => ({ status: 307, headers: { location: elsewhere.url } });
  expect(await refusedWith()).toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
  expect(elsewhere.requests).toEqual([]);
});

test.each(['reset', 'garbage', 'html'] as const)(
  'without a valid answer (%s) the submit is ambiguous',
  async (mishap) => {
    google.after = () => mishap;
    expect(await refusedWith()).toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
    expect(google.requests).toHaveLength(1);
  },
);

test('a request that was not sent is TRANSIENT', async () => {
  const family = familyFor();
  await google[Symbol.asyncDispose]();
  expect(await refusedWith(taskFor(MODEL), family)).toMatchObject({ type: 'TRANSIENT' });
});

test('the signal of the step aborts the call', async () => {
  google.before = () => 'hang';
  const ended = new AbortController();
  const ordered = familyFor().submit(callFor(taskFor(MODEL), ended.signal));
  await expect.poll(() => google.requests).toHaveLength(1);
  ended.abort();
  await expect(ordered).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
});

test('environment variables of the library have no effect', async () => {
  vi.stubEnv('GOOGLE_API_KEY', 'AIza-other');
  vi.stubEnv('GOOGLE_GENAI_USE_VERTEXAI', 'true');
  vi.stubEnv('GOOGLE_GEMINI_BASE_URL', 'http://127.0.0.1:1');
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  await pictureOf(taskFor(MODEL));
  expect(google.requests[0]?.headers['x-goog-api-key']).toBe(GOOGLE_KEY);
});

test('errors and logs contain neither the key nor the prompt nor a URL', async () => {
  const context = contextFor();
  const task = taskFor(MODEL, { prompt: 'A very private lamp' });
  const said = `Key ${GOOGLE_KEY} at https://example.com/?sig=1 for "A very private lamp".`;
  for (const status of [400, 403, 429, 500]) {
    google.before = () => googleError(status, 'INVALID_ARGUMENT', said, [retryInfo('9999s')]);
    expect(String(await refusedWith(task, familyFor(GOOGLE_KEY, context)))).not.toMatch(/AIza|private|https:/);
  }
  expect(context.logged).toHaveLength(2);
  expect(context.logged.join()).not.toMatch(/AIza|private|https:/);
});

test('the probe lists the models of the account', async () => {
  const { signal } = new AbortController();
  expect(await familyFor().probe?.(signal)).toBe(
    'it has gemini-3-pro-image, gemini-3.1-flash-image, gemini-3.1-flash-lite-image',
  );
  await expect(familyFor('AIza-wrong').probe?.(signal)).rejects.toMatchObject({ type: 'AUTH' });
  google.before = () => googleError(500, 'INTERNAL', 'Oops.');
  await expect(familyFor().probe?.(signal)).rejects.toMatchObject({ type: 'TRANSIENT' });
  expect(google.orders).toEqual([]);
});

testKeyedAccount(
  geminiImage,
  { key: 'GEMINI_API_KEY', address: 'GEMINI_BASE_URL' },
  'https://generativelanguage.googleapis.com',
);
testErrorCodes('Google', Object.keys(ERROR_CODES), ERROR_CLASSES, (code) => meaningOf(Number(code)));
