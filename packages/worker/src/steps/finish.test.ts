import { afterEach, beforeEach, expect, test } from 'vitest';
import { STEP_ERRORS, StepError, type StepErrorType } from '../step-error.ts';
import { contextOf, fakeFamily } from '../test/fake-family.ts';
import { type FakeServer, fakeServer } from '../test/fake-server.ts';
import { abandon, finish } from './finish.ts';

let server: FakeServer;
beforeEach(async () => {
  server = await fakeServer();
});
afterEach(() => server[Symbol.asyncDispose]());

const STAGES = { submit: { intents: 1, job: { id: 'job-1', done: false, warnings: ['shorter than asked'] } } };
const RUNNING = { status: 'RUNNING', stages: STAGES } as const;
const REASON = { type: 'PROVIDER_FAILED', message: 'it broke' };

test('finish reports the warnings of the provider', async () => {
  const { row, handed } = server.add('minimax-h3', { ...RUNNING, stored: true });
  await finish(contextOf(server, fakeFamily()), handed);
  expect(row.outcome).toEqual({ status: 'SUCCEEDED', warnings: ['shorter than asked'] });
});

const ENDS = (Object.keys(STEP_ERRORS) as StepErrorType[]).filter((type) => type !== 'LOST');

test.each(ENDS)('%s ends a generation with its code', async (type) => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  await abandon(contextOf(server, fakeFamily()), handed, { type, message: 'x'.repeat(2000) });
  const { code, retryable } = STEP_ERRORS[type];
  expect(row.outcome).toMatchObject({ status: 'FAILED', error: { code, retryable, message: 'x'.repeat(1000) } });
});

test('a stale run does not change a generation that another worker holds', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  const family = fakeFamily();
  await abandon(contextOf(server, family), handed, { type: 'LOST', message: 'another worker has it' });
  expect([row.status, row.outcome, family.canceled]).toEqual(['RUNNING', null, []]);
});

test('an unknown error type is INTERNAL', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  await abandon(contextOf(server, fakeFamily()), handed, { type: 'toString', message: 'odd' });
  expect(row.outcome).toMatchObject({ error: { code: 'INTERNAL' } });
});

test.each(['CANCELED', 'FAILED'] as const)(
  'a generation that is %s is only canceled at the provider',
  async (status) => {
    const { row, handed } = server.add('minimax-h3', { ...RUNNING, status });
    const family = fakeFamily();
    await abandon(contextOf(server, family), handed, REASON);
    expect([row.status, row.outcome, family.canceled]).toEqual([status, null, ['job-1']]);
  },
);

test('the job of a generation that has succeeded is not canceled', async () => {
  const { row, handed } = server.add('minimax-h3', { ...RUNNING, status: 'SUCCEEDED' });
  const family = fakeFamily();
  await abandon(contextOf(server, family), handed, REASON);
  expect([row.status, family.canceled]).toEqual(['SUCCEEDED', []]);
});

test('a generation with another epoch is not changed', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  const family = fakeFamily();
  await abandon(contextOf(server, family), { ...handed, epoch: 9 }, REASON);
  expect([row.outcome, family.canceled]).toEqual([null, []]);
});

test('a failed cancellation at the provider does not keep the generation open', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  const cancel = () => Promise.reject(new StepError('TRANSIENT', 'no'));
  await abandon(contextOf(server, fakeFamily({ cancel })), handed, REASON);
  expect(row.status).toBe('FAILED');
});

test('an unavailable server makes abandon retryable', async () => {
  const { handed } = server.add('minimax-h3', RUNNING);
  server.before = () => {
    throw new TypeError('fetch failed');
  };
  await expect(abandon(contextOf(server, fakeFamily()), handed, REASON)).rejects.toMatchObject({ type: 'AWAY' });
});
