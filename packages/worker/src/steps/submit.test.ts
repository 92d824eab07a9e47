import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { REFUSING_ADDRESS } from '../../../../scripts/free-port.ts';
import { minimax } from '../families/minimax.ts';
import { contextFor } from '../families/test/asking.ts';
import { OlderServerError } from '../server-version.ts';
import { StepError, type StepErrorType } from '../step-error.ts';
import { contextOf, fakeFamily } from '../test/fake-family.ts';
import { type FakeServer, fakeServer } from '../test/fake-server.ts';
import { submit } from './submit.ts';

let server: FakeServer;
beforeEach(async () => {
  server = await fakeServer();
});
afterEach(() => server[Symbol.asyncDispose]());

const fails = (type: StepErrorType) => async () => {
  throw new StepError(type, `said to be ${type}`);
};
const INTENDED = { submit: { intents: 1, job: null } };
const MODELS = ['markdown', 'gpt-image-2', 'minimax-h3', 'hunyuan3d-3.1'] as const;

test('the submit is reserved before the provider is called', async () => {
  const { row, handed } = server.add('minimax-h3');
  const seen: unknown[] = [];
  const family = fakeFamily({
    async submit() {
      seen.push(structuredClone(row.stages));
      return { job: { id: 'job-1' } };
    },
  });
  await submit(contextOf(server, family), handed, 'submit');
  expect(seen).toEqual([INTENDED]);
  expect(row.stages['submit']).toMatchObject({ intents: 1, job: { id: 'job-1', done: false } });
});

test('while an older server answers, no order is made, and the reservation is released', async () => {
  const { row, handed } = server.add('minimax-h3');
  const family = fakeFamily();
  const context = { ...contextOf(server, family), isServerOlder: () => true };
  await expect(submit(context, handed, 'submit')).rejects.toMatchObject({ type: 'NOT_MINE' });
  expect([family.orders, row.stages['submit']]).toEqual([[], { intents: 0, job: null }]);
});

test('an accepted job that the server does not record in time is recorded by the next attempt', async () => {
  const { row, handed } = server.add('minimax-h3');
  const family = fakeFamily();
  const context = contextOf(server, family);
  const timeout = new AbortController();
  server.before = (call) => {
    if (call !== 'submitted') return;
    timeout.abort();
    throw new OlderServerError();
  };
  await expect(submit({ ...context, signal: timeout.signal }, handed, 'submit')).rejects.toMatchObject({
    type: 'AWAY',
  });
  server.before = () => {};
  context.tasks.forget(handed);
  await submit(context, handed, 'submit');
  expect(row.stages['submit']).toMatchObject({ intents: 1, job: { id: 'job-1' } });
  expect([family.orders.length, context.unrecorded.size]).toEqual([1, 0]);
});

test.each(MODELS)('a recorded submit of %s is not repeated', async (model) => {
  const { handed } = server.add(model);
  const family = fakeFamily();
  for (const _ of [1, 2, 3]) await submit(contextOf(server, family), handed, 'submit');
  expect(family.orders).toHaveLength(1);
});

test.each([
  ['minimax-h3', 1, 0],
  ['hunyuan3d-3.1', 1, 0],
  ['markdown', 1, 1],
  ['gpt-image-2', 1, 1],
  ['markdown', 2, 0],
  ['gpt-image-2', 2, 0],
])('%s, reserved %i times without an answer, is submitted %i times more', async (model, intents, more) => {
  const { handed } = server.add(model, { status: 'RUNNING', stages: { submit: { intents, job: null } } });
  const family = fakeFamily();
  const outcome = await submit(contextOf(server, family), handed, 'submit').catch((error: unknown) => error);
  expect(family.orders).toHaveLength(more);
  if (more === 0) expect(outcome).toMatchObject({ type: 'SUBMIT_OUTCOME_UNKNOWN', retryable: false });
});

test('a submit that an earlier attempt has reserved is waited for, and made once', async () => {
  const { row, handed } = server.add('minimax-h3');
  const family = fakeFamily();
  const context = contextOf(server, family);
  // A suspended worker resumes and reserves just before its replacement.
  server.before = (call) => {
    if (call !== 'reserveSubmit') return;
    server.before = () => {};
    row.stages['submit'] = { intents: 1, job: null };
  };
  await expect(submit(context, handed, 'submit')).rejects.toMatchObject({ type: 'RIVAL', retryable: true });
  const next = submit({ ...context, rivalMs: 5000 }, handed, 'submit');
  row.stages['submit'] = { intents: 1, job: { id: 'job-1', done: false, warnings: [] } };
  await next;
  expect(family.orders).toEqual([]);
});

test('an earlier attempt that does not answer in time leaves the outcome unknown', async () => {
  const { handed } = server.add('minimax-h3', { status: 'RUNNING', stages: INTENDED });
  const outcome = submit({ ...contextOf(server, fakeFamily()), rivalMs: 20 }, handed, 'submit');
  await expect(outcome).rejects.toMatchObject({ type: 'SUBMIT_OUTCOME_UNKNOWN' });
});

test('a generation bound to another provider throws NOT_MINE', async () => {
  const { row, handed } = server.add('minimax-h3', { provider: 'live' });
  const family = fakeFamily({ provider: 'sandbox' });
  server.before = (call) => {
    if (call === 'reserveSubmit') row.stages['submit'] = { intents: 1, job: null };
  };
  await expect(submit(contextOf(server, family), handed, 'submit')).rejects.toMatchObject({ type: 'NOT_MINE' });
  expect(family.orders).toEqual([]);
});

test('a provider with lookUp is asked before a resubmit', async () => {
  const { row, handed } = server.add('kling-3.0', { status: 'RUNNING', stages: INTENDED });
  const found = fakeFamily({
    lookUp: async ({ clientJobId }) => ({ job: { id: `found ${clientJobId}` }, warnings: ['Of no use'] }),
  });
  await submit(contextOf(server, found), handed, 'submit');
  expect(found.orders).toEqual([]);
  expect(row.stages['submit']?.job).toMatchObject({ id: `found ${row.fileId}-submit`, warnings: ['Of no use'] });

  const other = server.add('kling-3.0', { status: 'RUNNING', stages: INTENDED });
  const unknown = fakeFamily({ lookUp: async () => null });
  await submit(contextOf(server, unknown), other.handed, 'submit');
  expect(unknown.orders).toEqual([`${other.row.fileId}-submit`]);
});

test('a submit that was not sent releases its reservation', async () => {
  const { row, handed } = server.add('minimax-h3');
  const family = minimax.open({ apiKey: 'key', baseUrl: REFUSING_ADDRESS, fal: null }, contextFor());
  await expect(submit(contextOf(server, family), handed, 'submit')).rejects.toMatchObject({ type: 'TRANSIENT' });
  expect(row.stages['submit']).toEqual({ intents: 0, job: null });
});

test.each(['CONTENT_POLICY', 'AUTH', 'BALANCE', 'RATE_LIMITED', 'TRANSIENT'] as const)(
  'a refusal (%s) releases the reservation, an unknown outcome does not',
  async (type) => {
    const refused = server.add('minimax-h3');
    const refusing = contextOf(server, fakeFamily({ submit: fails(type) }));
    await expect(submit(refusing, refused.handed, 'submit')).rejects.toMatchObject({ type });
    expect(refused.row.stages['submit']?.intents).toBe(0);

    const unknown = server.add('minimax-h3');
    const silent = contextOf(server, fakeFamily({ submit: fails('AMBIGUOUS_SUBMIT') }));
    await expect(submit(silent, unknown.handed, 'submit')).rejects.toMatchObject({ type: 'AMBIGUOUS_SUBMIT' });
    expect(unknown.row.stages['submit']?.intents).toBe(1);
  },
);

test('the reason of a refusal is kept if the release fails', async () => {
  const { handed } = server.add('minimax-h3');
  server.before = (call) => {
    if (call === 'releaseSubmit') throw new TypeError('fetch failed');
  };
  const context = contextOf(server, fakeFamily({ submit: fails('CONTENT_POLICY') }));
  await expect(submit(context, handed, 'submit')).rejects.toMatchObject({ type: 'CONTENT_POLICY' });
});

test('an answer is kept until the server can record it', async () => {
  const { row, handed } = server.add('minimax-h3');
  let away = 3;
  server.before = (call) => {
    if (call === 'submitted' && away-- > 0) throw new TypeError('fetch failed');
  };
  const family = fakeFamily();
  await submit(contextOf(server, family), handed, 'submit');
  expect(family.orders).toHaveLength(1);
  expect(row.stages['submit']?.job).toMatchObject({ id: 'job-1' });
});

test('a generation canceled during the submit is canceled at the provider', async () => {
  const { row, handed } = server.add('minimax-h3');
  const family = fakeFamily({
    async submit() {
      row.status = 'CANCELED';
      return { job: { id: 'job-1' } };
    },
  });
  await expect(submit(contextOf(server, family), handed, 'submit')).rejects.toMatchObject({ type: 'LOST' });
  expect(family.canceled).toEqual(['job-1']);
});

test('a job is not canceled if another worker continues the generation', async () => {
  const { row, handed } = server.add('kling-3.0');
  const family = fakeFamily({
    async submit() {
      row.epoch += 1;
      return { job: { id: 'job-1' } };
    },
  });
  await expect(submit(contextOf(server, family), handed, 'submit')).rejects.toMatchObject({ type: 'LOST' });
  expect(family.canceled).toEqual([]);
});

describe('an inline result', () => {
  const atOnce = () => fakeFamily({ submit: async () => ({ done: { text: 'content' }, warnings: ['short'] }) });

  test('is stored', async () => {
    const { row, handed } = server.add('markdown');
    await submit(contextOf(server, atOnce()), handed, 'submit');
    expect(row).toMatchObject({ stored: true, stages: { submit: { job: { done: true, warnings: ['short'] } } } });
  });

  test('is not submitted again once it is stored', async () => {
    const { handed } = server.add('markdown', { status: 'RUNNING', stages: INTENDED, stored: true });
    const family = atOnce();
    await submit(contextOf(server, family), handed, 'submit');
    expect(family.orders).toEqual([]);
  });

  test('is not submitted again while the storage is unavailable', async () => {
    const { row, handed } = server.add('markdown');
    let away = 3;
    server.before = (call) => {
      if (call === 'startUpload' && away-- > 0) throw new TypeError('fetch failed');
    };
    const family = atOnce();
    await submit(contextOf(server, family), handed, 'submit');
    expect(family.orders).toHaveLength(1);
    expect(row.stored).toBe(true);
  });

  test("waits for space on the worker's disk", async () => {
    const { row, handed } = server.add('markdown');
    let full = 2;
    const family = fakeFamily({
      submit: async () => ({ done: {} }),
      download: async ({ path }) => {
        if (full-- > 0) throw Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' });
        await writeFile(path, 'content');
      },
    });
    await submit(contextOf(server, family), handed, 'submit');
    expect(family.orders).toHaveLength(1);
    expect(row.stored).toBe(true);
  });

  test('that cannot be stored until the timeout is not submitted again', async () => {
    const { handed } = server.add('markdown');
    const family = fakeFamily({
      submit: async () => ({ done: {} }),
      download: async () => {
        throw Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' });
      },
    });
    const context = { ...contextOf(server, family), signal: AbortSignal.timeout(50) };
    const failed = submit(context, handed, 'submit');
    await expect(failed).rejects.toMatchObject({ type: 'RESULT_LOST', retryable: false });
    expect(family.orders).toHaveLength(1);
  });
});
