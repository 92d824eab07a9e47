import { createHash } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
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

test('the result is stored with its hash, and the work directory is empty afterwards', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  const context = contextOf(server, fakeFamily());
  await store(context, handed);
  expect(row).toMatchObject({ stored: true, sha256: createHash('sha256').update('content').digest('hex') });
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
        return writeFile(path, 'content');
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

test('an empty result, and one that the server refuses, are PROVIDER_FAILED', async () => {
  const empty = contextOf(server, fakeFamily({ download: ({ path }) => writeFile(path, '') }));
  await expect(store(empty, server.add('minimax-h3', RUNNING).handed)).rejects.toMatchObject({
    type: 'PROVIDER_FAILED',
  });
  server.before = (call) => {
    if (call === 'completeUpload') throw problem(409, 'PARTS_MISMATCH');
  };
  const unfit = contextOf(server, fakeFamily());
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
  await store(contextOf(server, fakeFamily()), handed);
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
