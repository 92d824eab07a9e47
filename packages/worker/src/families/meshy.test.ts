import type { WorkerTask } from '@review/contract';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { prepare } from '../steps/prepare.ts';
import { testKeyedAccount } from '../test/account.ts';
import { testErrorCodes } from '../test/error-codes.ts';
import { contextOf } from '../test/fake-family.ts';
import { type FakeServer, fakeServer } from '../test/fake-server.ts';
import type { Family } from './family.ts';
import { meaningOf, meshy } from './meshy.ts';
import { contextFor, downloaded, idOf, startStorage, token } from './test/asking.ts';
import { mediaOf } from './test/media.ts';
import { ERROR_CLASSES, ERROR_CODES, type MeshyDouble, type MeshyState, startMeshy } from './test/meshy.ts';

const storage = await startStorage();
const formats = ['png', 'jpeg', 'webp', 'png', 'png'] as const;
const attachments = await Promise.all(formats.map((format, index) => storage.picture(index + 1, { format })));
afterAll(() => storage[Symbol.asyncDispose]());

let server: FakeServer;
let double: MeshyDouble;
let family: Family;
let logged: string[];
beforeEach(async () => {
  server = await fakeServer();
  double = await startMeshy();
  logged = [];
  family = open();
});
afterEach(async () => {
  await double[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const open = (modelMap: Record<string, string> = {}, apiKey = double.key): Family =>
  meshy.open({ apiKey, baseUrl: double.url }, contextFor(modelMap, logged));

const soon = () => AbortSignal.timeout(20_000);
const taskOf = (own: Partial<WorkerTask> = {}): WorkerTask => server.add('meshy-7', own).row;
const pictured = (count: number, prompt = 'Of brass') => taskOf({ prompt, attachments: attachments.slice(0, count) });

const submit = (task: WorkerTask, stage = family.stages(task)[0] ?? '') =>
  family.submit({ task, signal: soon(), stage, clientJobId: 'unused' });

async function jobOf(task: WorkerTask, stage?: string) {
  const submitted = await submit(task, stage);
  if (!('job' in submitted)) throw new Error('there is no job');
  return { ...submitted.job, warnings: submitted.warnings ?? [], done: false };
}

/** A text task whose preview is done. */
async function previewed() {
  const task = taskOf();
  const job = await jobOf(task, 'preview');
  return { ...task, stages: { preview: { intents: 1, job } } };
}

const poll = async (task: WorkerTask, job: Awaited<ReturnType<typeof jobOf>>) =>
  family.poll({ task, signal: soon(), job });
const uri = (number: number, type: string) =>
  `data:image/${type};base64,${storage.kept.get(idOf(number))?.toString('base64') ?? ''}`;

describe('a submit', () => {
  test('without pictures: a preview, then its refinement, as two jobs', async () => {
    const task = await previewed();
    expect(family.stages(task)).toEqual(['preview', 'refine']);
    const { id } = await jobOf(task, 'refine');
    expect(double.requests).toMatchObject([
      {
        method: 'POST',
        path: '/openapi/v2/text-to-3d',
        headers: { authorization: `Bearer ${double.key}` },
        body: { mode: 'preview', prompt: 'A lamp', ai_model: 'latest', target_formats: ['glb'] },
      },
      { path: '/openapi/v2/text-to-3d', body: { mode: 'refine', preview_task_id: 'job-1', enable_pbr: true } },
    ]);
    expect([id, double.paidFor('A lamp', 'preview'), double.paidFor('A lamp', 'refine')]).toEqual(['job-2', 1, 1]);
  });

  test('one picture: the prompt is for the texture', async () => {
    const task = pictured(1);
    expect(family.stages(task)).toEqual(['submit']);
    expect(await jobOf(task)).toMatchObject({
      id: 'job-1',
      warnings: ['Meshy takes the shape from the pictures and uses the prompt for the texture only.'],
    });
    expect(double.requests).toMatchObject([
      {
        path: '/openapi/v1/image-to-3d',
        body: {
          image_url: uri(1, 'png'),
          ai_model: 'meshy-7',
          should_texture: true,
          enable_pbr: true,
          texture_prompt: 'Of brass',
          target_formats: ['glb'],
        },
      },
    ]);
  });

  test.each([2, 3, 4])('%i pictures: sent in order, other types than PNG and JPEG converted to PNG', async (count) => {
    await jobOf(pictured(count));
    const png = expect.stringMatching(/^data:image\/png;base64,iVBOR/);
    const uris = [uri(1, 'png'), uri(2, 'jpeg'), png, png].slice(0, count);
    expect(double.requests).toMatchObject([{ path: '/openapi/v1/multi-image-to-3d', body: { image_urls: uris } }]);
  });

  test('references are removed from the prompt', async () => {
    const both = await jobOf(pictured(1, `Like ${token(1)} but  red`));
    const alone = await jobOf(pictured(1, token(1)));
    expect(double.requests.map(({ body }) => body)).toMatchObject([{ texture_prompt: 'Like but red' }, {}]);
    expect(double.requests[1]?.body).not.toHaveProperty('texture_prompt');
    expect([both.warnings.length, alone.warnings.length]).toEqual([1, 0]);
  });

  test('without pictures another model than meshy-7 is used, with a warning', async () => {
    expect((await jobOf(taskOf(), 'preview')).warnings).toEqual([
      'Without pictures, Meshy uses its model "latest" instead of meshy-7.',
    ]);
  });

  test('PROVIDER_MODEL_MAP overrides the model, with and without pictures', async () => {
    family = open({ 'meshy-7': 'meshy-7.1' });
    await jobOf(taskOf(), 'preview');
    await jobOf(pictured(1));
    expect(double.requests.map(({ body }) => body)).toMatchObject([
      { ai_model: 'meshy-7.1' },
      { ai_model: 'meshy-7.1' },
    ]);
  });

  test.each([
    [{ prompt: 'a'.repeat(801) }, /at most 800 characters/],
    [{ attachments }, /at most 4 attachments/],
  ])('beyond the caps of Meshy is refused before any request', async (own, message) => {
    const { handed } = server.add('meshy-7', own);
    await expect(prepare(contextOf(server, family), handed)).rejects.toMatchObject({
      type: 'INVALID_INPUT',
      message: expect.stringMatching(message),
    });
    expect(double.requests).toEqual([]);
  });

  test('a refinement without a preview is not submitted', async () => {
    await expect(submit(taskOf(), 'refine')).rejects.toMatchObject({ type: 'INTERNAL' });
    expect(double.requests).toEqual([]);
  });
});

describe('a refusal', () => {
  const rows = [
    [400, { message: 'bad parameter' }, 'INVALID_INPUT', /bad parameter/],
    [422, { message: 'image_url is not reachable' }, 'INVALID_INPUT', /not reachable/],
    [400, { message: 'prompt did not pass moderation' }, 'CONTENT_POLICY', /moderation/],
    [422, { message: 'NSFW content' }, 'CONTENT_POLICY', /NSFW/],
    [401, { message: 'Invalid API key' }, 'AUTH', /log/],
    [403, { message: 'no permission' }, 'AUTH', /log/],
    [402, { message: 'Insufficient funds' }, 'BALANCE', /log/],
    [400, { message: 'no', code: 'InsufficientCredits' }, 'BALANCE', /log/],
    [404, { message: 'preview task not found' }, 'RESULT_EXPIRED', /no longer/],
    [429, { message: 'RateLimitExceeded' }, 'RATE_LIMITED', /busy/],
    [429, { code: 'NoMoreConcurrentTasks' }, 'RATE_LIMITED', /busy: NoMoreConcurrentTasks/],
    [400, { error_code: 'TooManyPendingTasks' }, 'RATE_LIMITED', /busy/],
    [400, { error_code: 'LimitExceeded' }, 'RATE_LIMITED', /busy/],
    [500, { message: 'oops' }, 'AMBIGUOUS_SUBMIT', /did not confirm/],
    [503, {}, 'AMBIGUOUS_SUBMIT', /did not confirm/],
  ] as const;

  test.each(rows)('%i %o is %s', async (status, body, type, message) => {
    double.before = () => ({ status, body, headers: { 'retry-after': '7' } });
    await expect(submit(taskOf(), 'preview')).rejects.toMatchObject({
      type,
      message: expect.stringMatching(message),
      ...(type === 'RATE_LIMITED' && { delayMs: 7000 }),
    });
    expect(double.orders).toEqual([]);
  });

  test.each(['reset', 'garbage', 'html'] as const)('%s after an accepted submit makes it ambiguous', async (mishap) => {
    double.after = () => mishap;
    await expect(submit(taskOf(), 'preview')).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
    expect(double.paidFor('A lamp')).toBe(1);
  });

  test('of the double: a wrong key, meshy-7 without pictures, a refinement too early', async () => {
    await expect(submitWith(open({}, 'msy_wrong_key'))).rejects.toMatchObject({ type: 'AUTH' });
    await expect(submitWith(open({ 'meshy-7': 'meshy-7' }))).rejects.toMatchObject({ type: 'INVALID_INPUT' });
    double.stateOf = () => ({ status: 'IN_PROGRESS' });
    await expect(submit(await previewed(), 'refine')).rejects.toMatchObject({ type: 'INVALID_INPUT' });
    expect(double.orders).toHaveLength(1);
  });
  const submitWith = (other: Family) =>
    other.submit({ task: taskOf(), signal: soon(), stage: 'preview', clientJobId: 'unused' });

  test('contains neither the key nor the prompt', async () => {
    double.before = () => ({ status: 401, body: { message: `${double.key} may not make "A lamp"` } });
    const error = await submit(taskOf(), 'preview').catch((reason: unknown) => String(reason));
    expect(logged.filter((line) => line.includes('"level":50'))).toHaveLength(1);
    for (const secret of [double.key, 'A lamp']) expect(`${error} ${logged}`).not.toContain(secret);
  });
});

describe('a poll', () => {
  const stands = async (state: MeshyState, stage = 'preview') => {
    const task = await previewed();
    const job = stage === 'preview' ? task.stages.preview.job : await jobOf(task, stage);
    double.stateOf = () => state;
    return poll(task, job);
  };

  test.each([
    [{ status: 'PENDING' }, 'preview', 0],
    [{ status: 'IN_PROGRESS', progress: 50 }, 'preview', 0.2],
    [{ status: 'PENDING' }, 'refine', 0.4],
    [{ status: 'IN_PROGRESS', progress: 50 }, 'refine', 0.6],
  ] as const)('%o in the stage %s is %d of the total progress', async (state, stage, progress) => {
    expect(await stands(state, stage)).toMatchObject({ state: 'running', progress: expect.closeTo(progress) });
  });

  test('a job with pictures has the whole progress range', async () => {
    const task = pictured(1);
    const job = await jobOf(task);
    double.stateOf = () => ({ status: 'IN_PROGRESS', progress: 50 });
    expect(await poll(task, job)).toMatchObject({ progress: 0.4 });
    expect(double.requests.at(-1)?.path).toBe('/openapi/v1/image-to-3d/job-1');
  });

  test.each([
    ['at once', 0, 10, 5000],
    ['after ten seconds', 10_000, 10, 10_000],
    ['after a minute', 60_000, 10, 30_000],
    ['near the end', 60_000, 95, 15_000],
  ])('the poll interval %s', async (_, age, progress, milliseconds) => {
    double.now = () => Date.now() - age;
    const answer = await stands({ status: 'IN_PROGRESS', progress });
    const wait = answer.state === 'running' ? answer.retryAfterMs : 0;
    expect(Math.abs(wait - milliseconds)).toBeLessThan(1000);
  });

  test.each([
    [{ status: 'FAILED', error: 'mesh is empty' }, 'PROVIDER_FAILED', /mesh is empty/],
    [{ status: 'FAILED', error: 'Blocked by content moderation' }, 'CONTENT_POLICY', /moderation/],
    [{ status: 'FAILED' }, 'PROVIDER_FAILED', /^Meshy failed\.$/],
    [{ status: 'CANCELED' }, 'PROVIDER_FAILED', /canceled/],
    [{ status: 'EXPIRED' }, 'RESULT_EXPIRED', /no longer/],
  ] as const)('%o is %s', async (state, type, message) => {
    await expect(stands(state)).rejects.toMatchObject({ type, message: expect.stringMatching(message) });
  });

  test('a job that Meshy no longer has is RESULT_EXPIRED', async () => {
    const task = await previewed();
    double.now = () => Date.now() + 4 * 24 * 3_600_000;
    await expect(poll(task, task.stages.preview.job)).rejects.toMatchObject({ type: 'RESULT_EXPIRED' });
  });

  test.each(['reset', 'garbage', 'html', { status: 502 }] as const)('%o is retried', async (mishap) => {
    const task = await previewed();
    double.before = () => mishap;
    await expect(poll(task, task.stages.preview.job)).rejects.toMatchObject({ type: 'TRANSIENT' });
  });

  test('a result without a GLB is a failure', async () => {
    const task = pictured(1);
    const job = await jobOf(task);
    double.after = () => ({ body: { status: 'SUCCEEDED', progress: 100, model_urls: { fbx: 'https://x.example/' } } });
    await expect(poll(task, job)).rejects.toMatchObject({ type: 'PROVIDER_FAILED' });
  });
});

describe('the result', () => {
  async function resultOf(task: WorkerTask) {
    const polled = await poll(task, await jobOf(task));
    if (polled.state !== 'succeeded') throw new Error('it is not done');
    return () => downloaded(family, task, polled.output);
  }

  test('is the GLB, downloaded without the key', async () => {
    const download = await resultOf(pictured(1));
    expect(await download()).toEqual(await mediaOf('meshy-7', 'job-1'));
    expect(double.requests.at(-1)?.headers.authorization).toBeUndefined();
  });

  test('expires', async () => {
    const download = await resultOf(pictured(1));
    double.now = () => Date.now() + 4 * 24 * 3_600_000;
    await expect(download()).rejects.toMatchObject({ type: 'RESULT_EXPIRED' });
  });
});

test('a job is canceled by DELETE, also if it no longer exists', async () => {
  const task = await previewed();
  const call = { task, signal: soon(), job: task.stages.preview.job };
  await family.cancel?.(call);
  await family.cancel?.(call);
  expect(double.requests.slice(1)).toMatchObject([
    { method: 'DELETE', path: '/openapi/v2/text-to-3d/job-1' },
    { method: 'DELETE', path: '/openapi/v2/text-to-3d/job-1' },
  ]);
  expect(double.orders[0]?.canceled).toBe(true);
  double.before = () => ({ status: 500 });
  await expect(family.cancel?.(call)).rejects.toMatchObject({ type: 'TRANSIENT' });
});

test('a deprecated model is logged with the setting for its successor', async () => {
  const warning = /Meshy has deprecated meshy-7 since 2026-09-18; PROVIDER_MODEL_MAP=\{"meshy-7":"meshy-7\.1"\}/;
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([{ level: 40, msg: expect.stringMatching(warning) }]);
  expect(await family.probe?.(soon())).toMatch(warning);
  open({ 'meshy-7': 'meshy-7.1' });
  expect(logged).toHaveLength(1);
});

test.each(['meshy-3', 'meshy-4', 'meshy-5'])('%s is retired: the double refuses it', async (model) => {
  family = open({ 'meshy-7': model });
  await expect(submit(taskOf(), 'preview')).rejects.toMatchObject({ type: 'INVALID_INPUT' });
  await expect(submit(pictured(1))).rejects.toMatchObject({ type: 'INVALID_INPUT' });
  expect(double.orders).toEqual([]);
});

test('a probe returns the balance, or fails for a wrong key', async () => {
  family = open({ 'meshy-7': 'meshy-7.1' });
  expect(await family.probe?.(soon())).toBe('1000 credits');
  await expect(open({}, 'msy_wrong_key').probe?.(soon())).rejects.toMatchObject({ type: 'AUTH' });
  expect(double.orders).toEqual([]);
});

testKeyedAccount(meshy, { key: 'MESHY_API_KEY', address: 'MESHY_BASE_URL' }, 'https://api.meshy.ai');
testErrorCodes(
  'Meshy',
  Object.entries(ERROR_CODES).flatMap(([status, names]) => [status, ...names]),
  ERROR_CLASSES,
  meaningOf,
);
