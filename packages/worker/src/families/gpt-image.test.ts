import { setTimeout as delay } from 'node:timers/promises';
import type { WorkerTask } from '@review/contract';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { testKeyedAccount } from '../test/account.ts';
import { codesIn, testErrorCodes } from '../test/error-codes.ts';
import { gptImage } from './gpt-image.ts';
import { meaningOf } from './openai.ts';
import { callFor, contextFor, downloaded, idOf, type Storage, startStorage, taskFor, token } from './test/asking.ts';
import { type Reply, startDouble } from './test/double.ts';
import {
  ERROR_CLASSES,
  ERROR_CODES,
  OPENAI_KEY,
  type OpenAiDouble,
  refusal,
  startOpenAi,
  stream,
} from './test/openai.ts';

let storage: Storage;
let openai: OpenAiDouble;
beforeAll(async () => {
  storage = await startStorage();
});
afterAll(async () => {
  await storage[Symbol.asyncDispose]();
});
beforeEach(async () => {
  openai = await startOpenAi();
  return () => openai[Symbol.asyncDispose]();
});

const familyFor = (apiKey = OPENAI_KEY, context = contextFor()) =>
  gptImage.open({ apiKey, baseUrl: openai.baseUrl, organization: 'org-1', project: 'proj-1' }, context);

const order = (task: WorkerTask, family = familyFor()) => family.submit(callFor(task));

async function pictureOf(task: WorkerTask, family = familyFor()): Promise<Buffer> {
  const submitted = await order(task, family);
  if (!('done' in submitted)) throw new Error('there is a job');
  return downloaded(family, task, submitted.done);
}

const refusedWith = (task = taskFor('gpt-image-2'), family = familyFor()) =>
  order(task, family).then(
    () => expect.fail('it was taken'),
    (error: unknown) => error,
  );

test.each(['gpt-image-2.5-flare', 'gpt-image-2'])(
  '%s: sends the prompt and every default, and returns the picture',
  async (model) => {
    expect(await pictureOf(taskFor(model))).toEqual(openai.picture);
    const [request] = openai.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/v1/images/generations' });
    expect(request?.body).toEqual({
      model,
      prompt: 'A lamp',
      n: 1,
      size: 'auto',
      quality: 'auto',
      background: 'auto',
      output_format: 'png',
      moderation: 'auto',
      stream: true,
    });
    expect(request?.headers).toMatchObject({ 'openai-organization': 'org-1', 'openai-project': 'proj-1' });
    expect(openai.orders).toHaveLength(1);
  },
);

test('attachments are sent as files in order, and the prompt refers to their positions', async () => {
  const attachments = [
    await storage.picture(1, { format: 'jpeg' }),
    await storage.picture(2, { format: 'gif' }),
    await storage.picture(3),
  ];
  const prompt = `Put ${token(3)} on ${token(1)}`;
  expect(await pictureOf(taskFor('gpt-image-2', { prompt, attachments }))).toEqual(openai.picture);
  const [request] = openai.requests;
  expect(request?.path).toBe('/v1/images/edits');
  const form = await new Response(new Uint8Array(request?.bytes ?? []), {
    headers: { 'content-type': String(request?.headers['content-type']) },
  }).formData();
  expect(form.get('prompt')).toBe('Put image 3 on image 1');
  expect(form.get('stream')).toBe('true');
  const files = form.getAll('image[]').filter((field) => field instanceof File);
  expect(files.map(({ name, type }) => [name, type])).toEqual([
    ['image-1.jpeg', 'image/jpeg'],
    ['image-2.png', 'image/png'],
    ['image-3.png', 'image/png'],
  ]);
  const original = await fetch(attachments[0]?.content?.url ?? '');
  expect(await files[0]?.bytes()).toEqual(await original.bytes());
});

test('an attachment that is not a picture is refused before any request', async () => {
  const attachments = [storage.attach(1, 'notes.txt', 'text/plain', Buffer.from('A lamp'))];
  expect(await refusedWith(taskFor('gpt-image-2', { attachments }))).toMatchObject({
    type: 'INVALID_INPUT',
    message: `The attachment ${idOf(1)} is text/plain; OpenAI takes only pictures.`,
  });
  expect(openai.requests).toEqual([]);
});

test('PROVIDER_MODEL_MAP overrides the model name', async () => {
  await pictureOf(
    taskFor('gpt-image-2'),
    familyFor(OPENAI_KEY, contextFor({ 'gpt-image-2': 'gpt-image-2-2026-04-21' })),
  );
  expect(openai.requests[0]?.body).toMatchObject({ model: 'gpt-image-2-2026-04-21' });
});

const MODERATION = { moderation_stage: 'output', categories: ['violence', 'gore'] };
const USER_ERROR = { type: 'image_generation_user_error', moderation_details: MODERATION };

test.each<[string, Reply, object]>([
  [
    'moderation_blocked',
    refusal(400, 'moderation_blocked', 'Your request was rejected by the safety system.', USER_ERROR),
    {
      type: 'CONTENT_POLICY',
      message:
        'OpenAI refuses the content: Your request was rejected by the safety system. (at the output, violence, gore)',
    },
  ],
  ['content_policy_violation', refusal(400, 'content_policy_violation', 'No.'), { type: 'CONTENT_POLICY' }],
  [
    'invalid_value',
    refusal(400, 'invalid_value', 'Invalid size.'),
    { type: 'INVALID_INPUT', message: 'OpenAI does not accept the request: Invalid size.' },
  ],
  ['unknown_parameter', refusal(400, 'unknown_parameter', 'Unknown.'), { type: 'INVALID_INPUT' }],
  ['invalid_image_file', refusal(400, 'invalid_image_file', 'Broken.'), { type: 'INVALID_INPUT' }],
  ['billing_hard_limit_reached', refusal(400, 'billing_hard_limit_reached', 'Limit.'), { type: 'BALANCE' }],
  ['invalid_api_key', refusal(401, 'invalid_api_key', 'Wrong key.'), { type: 'AUTH' }],
  ['not verified', refusal(403, null, 'Your organization must be verified.'), { type: 'AUTH' }],
  ['model_not_found', refusal(404, 'model_not_found', 'No such model.'), { type: 'AUTH' }],
  [
    'rate limit',
    { ...refusal(429, 'rate_limit_exceeded', 'Slow down.'), headers: { 'retry-after': '7' } },
    { type: 'RATE_LIMITED', delayMs: 7000 },
  ],
  [
    'insufficient_quota',
    { ...refusal(429, 'insufficient_quota', 'Pay.'), headers: { 'retry-after': '7' } },
    { type: 'BALANCE' },
  ],
  ['408', refusal(408, null, 'Too slow.'), { type: 'AMBIGUOUS_SUBMIT' }],
  ['409', refusal(409, null, 'Meanwhile.'), { type: 'AMBIGUOUS_SUBMIT' }],
  ['500', refusal(500, null, 'Oops.', { type: 'server_error' }), { type: 'AMBIGUOUS_SUBMIT' }],
  [
    'a page',
    { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad Gateway</h1>' },
    { type: 'AMBIGUOUS_SUBMIT' },
  ],
])('%s, once', async (_name, reply, error) => {
  openai.before = () => reply;
  expect(await refusedWith()).toMatchObject(error);
  expect(openai.requests).toHaveLength(1);
});

test('a redirect is not followed, because it would forward the key', async () => {
  await using elsewhere = await startDouble(() => ({}));
  openai.before = () => ({ status: 307, headers: { location: elsewhere.url } });
  expect(await refusedWith()).toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
  expect(elsewhere.requests).toEqual([]);
});

test.each<[string, object, string]>([
  [
    'is blocked',
    { error: { message: 'Blocked.', code: 'moderation_blocked', moderation_details: MODERATION } },
    'CONTENT_POLICY',
  ],
  ['is not understood', { error: { message: 'Size.', type: 'invalid_request_error' } }, 'INVALID_INPUT'],
  ['fails', { error: { message: 'Oops.', code: 'server_error' } }, 'AMBIGUOUS_SUBMIT'],
  ['ends early', { type: 'image_generation.partial_image', b64_json: 'aGFsZg==' }, 'AMBIGUOUS_SUBMIT'],
  ['holds nothing', { type: 'image_generation.completed', b64_json: '' }, 'AMBIGUOUS_SUBMIT'],
])('a stream that %s', async (_name, event, type) => {
  openai.after = () => stream([event]);
  expect(await refusedWith()).toMatchObject({ type });
});

test.each(['reset', 'garbage', 'html'] as const)(
  'without a valid answer (%s) the submit is ambiguous',
  async (mishap) => {
    openai.after = () => mishap;
    expect(await refusedWith()).toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
    expect(openai.requests).toHaveLength(1);
  },
);

test('a request that was not sent is TRANSIENT', async () => {
  const family = familyFor();
  await openai[Symbol.asyncDispose]();
  expect(await refusedWith(taskFor('gpt-image-2'), family)).toMatchObject({ type: 'TRANSIENT' });
});

test('the signal of the step aborts the call', async () => {
  openai.before = () => 'hang';
  const ended = new AbortController();
  const ordered = familyFor().submit(callFor(taskFor('gpt-image-2'), ended.signal));
  await expect.poll(() => openai.requests).toHaveLength(1);
  ended.abort();
  await expect(ordered).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
});

test('a slow picture is streamed', async () => {
  const completed = { type: 'image_generation.completed', b64_json: openai.picture.toString('base64') };
  async function* slowly() {
    yield ': waiting\n\n';
    await delay(50);
    for (const piece of `data: ${JSON.stringify(completed)}\n\n`.match(/[\s\S]{1,5000}/g) ?? []) yield piece;
  }
  openai.after = () => ({ headers: { 'content-type': 'text/event-stream' }, body: slowly() });
  expect(await pictureOf(taskFor('gpt-image-2'))).toEqual(openai.picture);
});

test('a large picture', async () => {
  openai.picture = Buffer.alloc(8 * 1024 * 1024, 'lamp');
  expect((await pictureOf(taskFor('gpt-image-2'))).equals(openai.picture)).toBe(true);
});

test('a JSON answer without streaming is accepted', async () => {
  openai.streamsPictures = false;
  expect(await pictureOf(taskFor('gpt-image-2'))).toEqual(openai.picture);
});

test('environment variables of the library have no effect', async () => {
  vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:1');
  vi.stubEnv('OPENAI_ORG_ID', 'org-other');
  vi.stubEnv('OPENAI_LOG', 'debug');
  vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'Authorization: Bearer other\nX-Secret: 1');
  const spoken = vi.spyOn(console, 'log');
  onTestFinished(() => {
    vi.unstubAllEnvs();
    spoken.mockRestore();
  });
  await pictureOf(taskFor('gpt-image-2'));
  const { headers } = openai.requests[0] ?? {};
  expect(headers).toMatchObject({ authorization: `Bearer ${OPENAI_KEY}`, 'openai-organization': 'org-1' });
  expect(Object.keys(headers ?? {}).filter((name) => name.startsWith('x-'))).toEqual([]);
  expect(spoken).not.toHaveBeenCalled();
});

test('errors and logs contain neither the key nor the prompt nor a URL', async () => {
  const context = contextFor();
  const task = taskFor('gpt-image-2', { prompt: 'A very private lamp' });
  const said = `Key ${OPENAI_KEY} at https://api.openai.com/v1?sig=1 for "A very private lamp".`;
  for (const [status, code] of [
    [401, 'invalid_api_key'],
    [400, 'invalid_value'],
    [429, 'insufficient_quota'],
    [500, null],
  ] as const) {
    openai.before = () => refusal(status, code, said);
    const error = await refusedWith(task, familyFor(OPENAI_KEY, context));
    expect(String(error)).not.toMatch(/sk-double|private|https:/);
  }
  expect(context.logged).toHaveLength(2);
  expect(context.logged.join()).not.toMatch(/sk-double|private|https:/);
});

test('the probe lists the models of the account', async () => {
  const { signal } = new AbortController();
  expect(await familyFor().probe?.(signal)).toBe('it has gpt-image-2.5-flare, gpt-image-2');
  const renamed = familyFor(OPENAI_KEY, contextFor({ 'gpt-image-2': 'gpt-image-9' }));
  await expect(renamed.probe?.(signal)).rejects.toMatchObject({ type: 'AUTH' });
  await expect(familyFor('sk-wrong-0123456789').probe?.(signal)).rejects.toMatchObject({ type: 'AUTH' });
  openai.before = () => refusal(500, null, 'Oops.');
  await expect(familyFor().probe?.(signal)).rejects.toMatchObject({ type: 'TRANSIENT' });
  expect(openai.orders).toEqual([]);
});

testKeyedAccount(gptImage, { key: 'OPENAI_API_KEY', address: 'OPENAI_BASE_URL' }, 'https://api.openai.com/v1');
testErrorCodes('OpenAI', codesIn(ERROR_CODES), ERROR_CLASSES, meaningOf);
