import type { WorkerTask } from '@review/contract';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { testKeyedAccount } from '../test/account.ts';
import { testErrorCodes } from '../test/error-codes.ts';
import type { JobRef } from './family.ts';
import { callFor, contextFor, downloaded, type Storage, startStorage, taskFor, token } from './test/asking.ts';
import { type Double, type Reply, startDouble } from './test/double.ts';
import { GOOGLE_KEY, type GoogleDouble, googleError, retryInfo, startGoogle } from './test/google.ts';
import { mediaOf } from './test/media.ts';
import { meaningOf, veo } from './veo.ts';

const MODEL = 'veo-3.1-generate-preview';
const LITE = 'veo-3.1-lite-generate-preview';
const { signal } = new AbortController();
let storage: Storage;
let google: GoogleDouble;
beforeAll(async () => {
  storage = await startStorage();
  await mediaOf(MODEL, '');
}, 60_000);
afterAll(async () => {
  await storage[Symbol.asyncDispose]();
});
beforeEach(async () => {
  google = await startGoogle();
  return () => google[Symbol.asyncDispose]();
});

const familyFor = (apiKey = GOOGLE_KEY, context = contextFor()) => veo.open({ apiKey, baseUrl: google.url }, context);

async function order(task: WorkerTask, family = familyFor()): Promise<JobRef> {
  const submitted = await family.submit(callFor(task));
  if (!('job' in submitted)) throw new Error('there is no job');
  return submitted.job;
}

/** Reads the job from the row, as after a crash. */
const poll = (job: JobRef) => familyFor().poll({ task: taskFor(MODEL), signal, job: JSON.parse(JSON.stringify(job)) });

const failed = (call: Promise<unknown>) =>
  call.then(
    () => expect.fail('it was taken'),
    (error: unknown) => error,
  );

const frame = (mimeType: string) => ({ mimeType, bytesBase64Encoded: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/) });

test('every setting is sent except the sound, which Veo always makes', async () => {
  const configs = { generateAudio: false, resolution: '4k', aspectRatio: '9:16', durationSeconds: 8 };
  const job = await order(taskFor(MODEL, { configs }));
  expect(job).toMatchObject({ id: `models/${MODEL}/operations/op1` });
  expect(google.requests[0]).toMatchObject({ method: 'POST', path: `/v1beta/models/${MODEL}:predictLongRunning` });
  expect(google.requests[0]?.body).toEqual({
    instances: [{ prompt: 'A lamp' }],
    parameters: { sampleCount: 1, durationSeconds: 8, aspectRatio: '9:16', resolution: '4k' },
  });
});

test('without settings the defaults are sent', async () => {
  await order(taskFor(LITE));
  expect(google.requests[0]?.body).toMatchObject({
    parameters: { sampleCount: 1, durationSeconds: 8, aspectRatio: '16:9', resolution: '720p' },
  });
});

test('up to three attachments are sent as reference images', async () => {
  const attachments = [
    await storage.picture(1),
    await storage.picture(2, { format: 'webp' }),
    await storage.picture(3, { format: 'jpeg' }),
  ];
  await order(taskFor(MODEL, { prompt: `${token(3)} beside ${token(1)}`, attachments }));
  expect(google.requests[0]?.body).toMatchObject({
    instances: [
      {
        prompt: 'reference image 3 beside reference image 1',
        referenceImages: [
          { image: frame('image/png'), referenceType: 'ASSET' },
          { image: frame('image/png'), referenceType: 'ASSET' },
          { image: frame('image/jpeg'), referenceType: 'ASSET' },
        ],
      },
    ],
  });
  expect(google.requests[0]?.body).not.toMatchObject({ instances: [{ image: expect.anything() }] });
});

test('the lite model gets them as the first and the last frame', async () => {
  const [first, last] = [await storage.picture(1), await storage.picture(2, { format: 'jpeg' })];
  await order(taskFor(LITE, { prompt: `From ${token(1)}`, attachments: [first] }));
  expect(google.requests[0]?.body).toMatchObject({
    instances: [{ prompt: 'From the first frame', image: frame('image/png') }],
  });
  const prompt = `From ${token(1)} to ${token(2)}`;
  await order(taskFor(LITE, { prompt, attachments: [first, last] }));
  expect(google.requests[1]?.body).toMatchObject({
    instances: [
      { prompt: 'From the first frame to the last frame', image: frame('image/png'), lastFrame: frame('image/jpeg') },
    ],
  });
});

test('an attachment that is not a picture is refused before any request', async () => {
  const attachments = [storage.attach(1, 'film.mp4', 'video/mp4', Buffer.from('film'))];
  expect(await failed(order(taskFor(MODEL, { attachments })))).toMatchObject({ type: 'INVALID_INPUT' });
  expect(google.requests).toEqual([]);
});

test.each<[string, Reply, object]>([
  ['400', googleError(400, 'INVALID_ARGUMENT', 'Aspect ratio.'), { type: 'INVALID_INPUT' }],
  ['no access', googleError(400, 'INVALID_ARGUMENT', 'Your use case is currently not supported.'), { type: 'AUTH' }],
  [
    'policy',
    googleError(400, 'INVALID_ARGUMENT', "The prompt violates Google's usage guidelines."),
    { type: 'CONTENT_POLICY' },
  ],
  ['precondition', googleError(400, 'FAILED_PRECONDITION', 'Enable billing.'), { type: 'AUTH' }],
  ['403', googleError(403, 'PERMISSION_DENIED', 'No.'), { type: 'AUTH' }],
  ['404', googleError(404, 'NOT_FOUND', 'No such model.'), { type: 'AUTH' }],
  [
    '429',
    googleError(429, 'RESOURCE_EXHAUSTED', 'Slow.', [retryInfo('20s')]),
    { type: 'RATE_LIMITED', delayMs: 20_000 },
  ],
  ['429 for the day', googleError(429, 'RESOURCE_EXHAUSTED', 'Slow.', [retryInfo('40000s')]), { type: 'BALANCE' }],
  ['500', googleError(500, 'INTERNAL', 'Oops.'), { type: 'AMBIGUOUS_SUBMIT' }],
  ['503', googleError(503, 'UNAVAILABLE', 'Overloaded.'), { type: 'AMBIGUOUS_SUBMIT' }],
  ['no name', { body: {} }, { type: 'AMBIGUOUS_SUBMIT' }],
])('a refused submit (%s) is sent once', async (_name, reply, error) => {
  google.before = () => reply;
  expect(await failed(order(taskFor(MODEL)))).toMatchObject(error);
  expect(google.requests).toHaveLength(1);
});

test.each(['reset', 'garbage', 'html'] as const)(
  'a submit without a valid answer (%s) is ambiguous',
  async (mishap) => {
    google.after = () => mishap;
    expect(await failed(order(taskFor(MODEL)))).toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
    expect(google.orders).toHaveLength(1);
  },
);

test('a job is polled by the name of its operation until it has a video', async () => {
  const job = await order(taskFor(MODEL));
  google.operation = (_order, looks) => (looks < 3 ? { done: looks === 1 ? undefined : false } : undefined);
  const running = await poll(job);
  expect(running).toMatchObject({ state: 'running', retryAfterMs: 10_000 });
  expect((await poll({ ...job, orderedAt: Date.now() - 90_000 })) as object).toMatchObject({
    progress: expect.closeTo(0.4),
  });
  const uri = `${google.url}/v1beta/files/op1:download?alt=media`;
  expect(await poll(job)).toEqual({ state: 'succeeded', output: { uri } });
  expect(google.requests.at(-1)?.path).toBe(`/v1beta/${job.id}`);
});

const ended = (error: object) => ({ done: true, error });
const without = (generateVideoResponse: object) => ({ done: true, response: { generateVideoResponse } });
const REASON = "Sorry, we can't create videos of real people's names.";

test.each<[string, object, object]>([
  [
    'filtered',
    without({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: [REASON] }),
    { type: 'CONTENT_POLICY', message: `Veo refuses the content: ${REASON}` },
  ],
  ['filtered in silence', without({ raiMediaFilteredCount: 1 }), { type: 'CONTENT_POLICY' }],
  ['empty', without({}), { type: 'PROVIDER_FAILED' }],
  ['code 3', ended({ code: 3, message: 'Bad.' }), { type: 'INVALID_INPUT' }],
  ['code 3, policy', ended({ code: 3, message: 'It violates our usage guidelines.' }), { type: 'CONTENT_POLICY' }],
  ['code 9', ended({ code: 9, message: 'Bad.' }), { type: 'INVALID_INPUT' }],
  ['code 7', ended({ code: 7, message: 'No.' }), { type: 'AUTH' }],
  ['code 16', ended({ code: 16, message: 'Who?' }), { type: 'AUTH' }],
  // Transient elsewhere, but this job has ended, and a new one would be billed.
  ...[4, 8, 13, 14].map((code): [string, object, object] => [
    `code ${code}`,
    ended({ code, message: 'Oops.' }),
    { type: 'PROVIDER_FAILED', message: 'Veo failed: Oops.' },
  ]),
])('a job that ends without a video (%s)', async (_name, said, error) => {
  const job = await order(taskFor(MODEL));
  google.operation = () => said;
  expect(await failed(poll(job))).toMatchObject(error);
  expect(google.orders).toHaveLength(1);
});

test.each<[string, Reply | 'reset' | 'garbage', object]>([
  ['gone', googleError(404, 'NOT_FOUND', 'Gone.'), { type: 'RESULT_EXPIRED' }],
  ['429', googleError(429, 'RESOURCE_EXHAUSTED', 'Slow.', [retryInfo('5s')]), { type: 'RATE_LIMITED', delayMs: 5000 }],
  ['500', googleError(500, 'INTERNAL', 'Oops.'), { type: 'TRANSIENT' }],
  ['403', googleError(403, 'PERMISSION_DENIED', 'No.'), { type: 'AUTH' }],
  ['reset', 'reset', { type: 'TRANSIENT' }],
  ['garbage', 'garbage', { type: 'TRANSIENT' }],
])('a failed poll (%s)', async (_name, reply, error) => {
  const job = await order(taskFor(MODEL));
  google.before = () => reply;
  expect(await failed(poll(job))).toMatchObject(error);
});

async function download(): Promise<Buffer> {
  const [task, family] = [taskFor(MODEL), familyFor()];
  const polled = await poll(await order(task, family));
  if (polled.state !== 'succeeded') throw new Error('it runs');
  return downloaded(family, task, polled.output);
}

test('the video is downloaded with the key, and after a redirect without it', async () => {
  await using elsewhere: Double = await startDouble(async ({ headers }) => {
    if (headers['x-goog-api-key'] !== undefined) return { status: 400, body: 'a key' };
    return { headers: { 'content-type': 'video/mp4' }, body: await mediaOf(MODEL, 'op1') };
  });
  google.media = elsewhere.url;
  expect(await download()).toEqual(await mediaOf(MODEL, 'op1'));
  const asked = google.requests.find(({ path }) => path.endsWith(':download'));
  expect(asked?.headers['x-goog-api-key']).toBe(GOOGLE_KEY);
  expect(elsewhere.requests).toHaveLength(1);
});

test.each([
  [404, 'RESULT_EXPIRED'],
  [403, 'RESULT_EXPIRED'],
  [503, 'TRANSIENT'],
])('a file that answers %i', async (status, type) => {
  google.before = ({ path }) => (path.endsWith(':download') ? { status, body: 'no' } : undefined);
  expect(await failed(download())).toMatchObject({ type });
});

test('the probe lists the models of the account', async () => {
  expect(await familyFor().probe?.(signal)).toBe(`it has ${MODEL}, ${LITE}`);
  await expect(familyFor('AIza-wrong').probe?.(signal)).rejects.toMatchObject({ type: 'AUTH' });
  expect(google.orders).toEqual([]);
});

testKeyedAccount(
  veo,
  { key: 'GEMINI_API_KEY', address: 'GEMINI_BASE_URL' },
  'https://generativelanguage.googleapis.com',
);
testErrorCodes(
  'a job of Veo',
  Array.from({ length: 16 }, (_, index) => index + 1),
  { AUTH: [7, 16], INVALID_INPUT: [3, 9, 11], TRANSIENT: [] },
  (code) => meaningOf(Number(code)),
);
