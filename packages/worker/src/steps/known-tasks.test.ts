import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { contextOf, fakeFamily } from '../test/fake-family.ts';
import { type FakeServer, fakeServer } from '../test/fake-server.ts';
import { awaitJob } from './await-job.ts';
import { finish } from './finish.ts';
import { prepare } from './prepare.ts';
import { store } from './store.ts';
import { submit } from './submit.ts';

let server: FakeServer;
beforeEach(async () => {
  server = await fakeServer();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await server[Symbol.asyncDispose]();
});

const TWO_STAGES = { stages: () => ['preview', 'refine'] };

test('a worker that runs all steps reads the task once', async () => {
  const { row, handed } = server.add('minimax-h3');
  const context = contextOf(server, fakeFamily());
  await prepare(context, handed);
  await submit(context, handed, 'submit');
  await awaitJob(context, handed, 'submit');
  await store(context, handed);
  expect(row.status).toBe('SUCCEEDED');
  expect(server.calls).toEqual(['getTask', 'reserveSubmit', 'submitted', 'storeResult']);
});

test('a worker that has not seen the steps of another reads the task again', async () => {
  const { row, handed } = server.add('meshy-7');
  const submitted: string[] = [];
  const family = fakeFamily({
    ...TWO_STAGES,
    async submit({ task, stage }) {
      submitted.push(`${stage} ${Object.keys(task.stages)}`);
      return { job: { id: stage }, warnings: [`about ${stage}`] };
    },
  });
  const [one, other] = [contextOf(server, family), contextOf(server, family)];
  await prepare(one, handed);
  await submit(other, handed, 'preview');
  await awaitJob(one, handed, 'preview');
  await submit(one, handed, 'refine');
  await awaitJob(other, handed, 'refine');
  await store(other, handed);
  expect(submitted).toEqual(['preview ', 'refine preview']);
  expect(row.outcome).toEqual({ status: 'SUCCEEDED', warnings: ['about preview', 'about refine'] });
});

test('a stage that another worker has submitted is not submitted again', async () => {
  const { handed } = server.add('minimax-h3');
  const family = fakeFamily();
  const [one, other] = [contextOf(server, family), contextOf(server, family)];
  await prepare(one, handed);
  await submit(other, handed, 'submit');
  await expect(submit(one, handed, 'submit')).rejects.toMatchObject({ type: 'RIVAL' });
  one.tasks.forget(handed);
  await submit(one, handed, 'submit');
  expect(family.orders).toHaveLength(1);
});

test('an attempt whose predecessor may still run reads the task', async () => {
  const { handed } = server.add('minimax-h3');
  const context = contextOf(server, fakeFamily());
  await prepare(context, handed);
  await submit({ ...context, rivalMs: 10 }, handed, 'submit');
  expect(server.calls.filter((call) => call === 'getTask')).toHaveLength(2);
});

test('a task is read again after 30 seconds, and under another epoch', async () => {
  const { row, handed } = server.add('minimax-h3');
  const context = contextOf(server, fakeFamily());
  const reads = () => server.calls.filter((call) => call === 'getTask').length;
  await prepare(context, handed);
  await prepare(context, handed);
  expect(reads()).toBe(1);
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(now + 31_000);
  await prepare(context, handed);
  expect(reads()).toBe(2);
  row.epoch = 2;
  await prepare(context, { ...handed, epoch: 2 });
  expect(reads()).toBe(3);
});

test('a canceled generation ends at the next report', async () => {
  const { row, handed } = server.add('minimax-h3');
  const family = fakeFamily();
  const context = contextOf(server, family);
  await prepare(context, handed);
  row.status = 'CANCELED';
  await expect(submit(context, handed, 'submit')).rejects.toMatchObject({ type: 'LOST' });
  expect(family.orders).toEqual([]);
  await expect(finish(context, handed)).rejects.toMatchObject({ type: 'LOST' });
});
