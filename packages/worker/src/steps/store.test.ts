import { hash } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { MAX_DIRECT_RESULT } from '@review/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Family } from '../families/family.ts';
import { StepError } from '../step-error.ts';
import { contextOf, fakeFamily } from '../test/fake-family.ts';
import { type FakeServer, fakeServer, problem } from '../test/fake-server.ts';
import { awaitJob } from './await-job.ts';
import { store } from './store.ts';

let server: FakeServer;
beforeEach(async () => {
  server = await fakeServer();
});
afterEach(() => server[Symbol.asyncDispose]());

const RUNNING = {
  status: 'RUNNING',
  stages: { submit: { intents: 1, job: { id: 'job-1', done: false, warnings: [] } } },
} as const;
const noneLeft = async (folder: string) => expect(await readdir(folder)).toEqual([]);

/** More than one call carries. */
const LARGE = Buffer.alloc(MAX_DIRECT_RESULT + 1, 'content');
const largeFamily = (own: Partial<Family> = {}) =>
  fakeFamily({ download: ({ path }) => writeFile(path, LARGE), ...own });

test('a small result is sent in one call, which also finishes the generation', async () => {
  const { row, handed } = server.add('minimax-h3', {
    status: 'RUNNING',
    stages: { submit: { intents: 1, job: { id: 'job-1', done: false, warnings: ['short'] } } },
  });
  const context = contextOf(server, fakeFamily());
  expect(await store(context, handed)).toEqual({ ended: true });
  expect(row).toMatchObject({
    sha256: hash('sha256', 'content'),
    outcome: { status: 'SUCCEEDED', warnings: ['short'] },
  });
  expect(row.steps).toEqual(['test 1 SUCCEEDED']);
  expect(server.calls).toEqual(['getTask', 'storeResult']);
  await noneLeft(context.workDirectory);
});

test('a small result whose answer was lost is not sent again', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  server.before = (call, held) => {
    if (call !== 'storeResult' || held === undefined) return;
    held.status = 'SUCCEEDED';
    throw new TypeError('terminated');
  };
  expect(await store(contextOf(server, fakeFamily()), handed)).toEqual({ ended: true });
  expect([row.status, server.calls.filter((call) => call === 'storeResult')]).toEqual(['SUCCEEDED', ['storeResult']]);
});

test('a result that is stored but not finished is left to the step that finishes', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  server.before = (call, held) => {
    if (call !== 'storeResult' || held === undefined) return;
    held.stored = true;
    throw new TypeError('terminated');
  };
  expect(await store(contextOf(server, fakeFamily()), handed)).toEqual({ ended: false });
  expect(row.status).toBe('RUNNING');
});

test('a full storage is retried for a small result too', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  let refusals = 0;
  server.before = (call) => {
    if (call === 'storeResult' && ++refusals < 3) throw problem(507, 'STORAGE_FULL');
  };
  await store(contextOf(server, fakeFamily()), handed);
  expect([row.status, refusals]).toEqual(['SUCCEEDED', 3]);
});

test('a large result is stored with its hash, and the work directory is empty afterwards', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  const context = contextOf(server, largeFamily());
  expect(await store(context, handed)).toEqual({ ended: false });
  expect(row).toMatchObject({ status: 'RUNNING', stored: true, sha256: hash('sha256', LARGE) });
  await noneLeft(context.workDirectory);
  await store(context, handed);
  expect(server.calls.filter((call) => call === 'startUpload')).toHaveLength(1);
});

test('a full storage is retried, and is the reason at the timeout', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  let downloads = 0;
  const context = contextOf(
    server,
    fakeFamily({
      download({ path }) {
        downloads += 1;
        return writeFile(path, LARGE);
      },
    }),
  );
  server.storageStatus = 507;
  const signal = AbortSignal.timeout(500);
  await expect(store({ ...context, signal }, handed)).rejects.toMatchObject({ type: 'STORAGE_FULL' });
  await noneLeft(context.workDirectory);

  let refusals = 0;
  server.before = (call) => {
    if (call === 'startUpload' && ++refusals === 2) server.storageStatus = 200;
    if (call === 'completeUpload' && ++refusals < 5) throw problem(507, 'STORAGE_FULL');
  };
  await store(context, handed);
  expect([row.stored, downloads]).toEqual([true, 2]);
  await noneLeft(context.workDirectory);
});

test.each([
  ['storeResult', fakeFamily()],
  ['completeUpload', largeFamily()],
])('an empty result, and one that the server refuses in %s, are PROVIDER_FAILED', async (refusing, family) => {
  const empty = contextOf(server, fakeFamily({ download: ({ path }) => writeFile(path, '') }));
  await expect(store(empty, server.add('minimax-h3', RUNNING).handed)).rejects.toMatchObject({
    type: 'PROVIDER_FAILED',
  });
  server.before = (call) => {
    if (call === refusing) throw problem(409, 'PARTS_MISMATCH');
  };
  const unfit = contextOf(server, family);
  await expect(store(unfit, server.add('minimax-h3', RUNNING).handed)).rejects.toMatchObject({
    type: 'PROVIDER_FAILED',
  });
  await noneLeft(unfit.workDirectory);
});

test('an upload whose answer was lost is not repeated', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  server.before = (call, held) => {
    if (call !== 'completeUpload' || held === undefined) return;
    held.stored = true;
    throw new TypeError('terminated');
  };
  await store(contextOf(server, largeFamily()), handed);
  expect(row.stored).toBe(true);
  expect(server.calls.filter((call) => call === 'startUpload')).toHaveLength(1);
});

test('an expired result URL is requested once more', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  let polls = 0;
  const family = fakeFamily({
    poll: async () => ({ state: 'succeeded', output: { address: ++polls } }),
    download: async ({ output, path }) => {
      if (output['address'] === 1) throw new StepError('RESULT_EXPIRED', 'too late');
      await writeFile(path, 'content');
    },
  });
  await store(contextOf(server, family), handed);
  expect(row.stored).toBe(true);
  expect(polls).toBe(2);
});

test('an expired result fails permanently', async () => {
  const download = () => Promise.reject(new StepError('RESULT_EXPIRED', 'too late'));
  const context = contextOf(server, fakeFamily({ download }));
  await expect(store(context, server.add('minimax-h3', RUNNING).handed)).rejects.toMatchObject({
    type: 'RESULT_EXPIRED',
    retryable: false,
  });
});

test('a generation that was canceled meanwhile is not stored', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  const family = fakeFamily({
    async download({ path }) {
      await writeFile(path, 'content');
      row.status = 'CANCELED';
    },
  });
  await expect(store(contextOf(server, family), handed)).rejects.toMatchObject({ type: 'LOST' });
  expect(row.stored).toBe(false);
});

test('a running job is polled again after the interval of the provider', async () => {
  const { handed } = server.add('minimax-h3', RUNNING);
  const poll = async () => ({ state: 'running', progress: 0.3, retryAfterMs: 1234 }) as const;
  const context = contextOf(server, fakeFamily({ poll }));
  await expect(awaitJob(context, handed, 'submit')).rejects.toMatchObject({ type: 'NOT_READY', delayMs: 1234 });
  expect(server.calls).toContain('progress');
});

test('a stage whose result is stored is not polled', async () => {
  const poll = vi.fn();
  const context = contextOf(server, fakeFamily({ poll }));
  const done = { submit: { intents: 1, job: { id: 'x', done: true, warnings: [] } } };
  await awaitJob(context, server.add('markdown', { status: 'RUNNING', stages: done }).handed, 'submit');
  await awaitJob(context, server.add('minimax-h3', { ...RUNNING, stored: true }).handed, 'submit');
  expect(poll).not.toHaveBeenCalled();
});
