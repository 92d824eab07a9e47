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

test('the end names what the provider warned of', async () => {
  const { row, handed } = server.add('minimax-h3', { ...RUNNING, stored: true });
  await finish(contextOf(server, fakeFamily()), handed);
  expect(row.outcome).toEqual({ status: 'SUCCEEDED', warnings: ['shorter than asked'] });
});

const ENDS = (Object.keys(STEP_ERRORS) as StepErrorType[]).filter((type) => type !== 'LOST');

test.each(ENDS)('%s ends a generation under its code', async (type) => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  await abandon(contextOf(server, fakeFamily()), handed, { type, message: 'x'.repeat(2000) });
  const { code, retryable } = STEP_ERRORS[type];
  expect(row.outcome).toMatchObject({ status: 'FAILED', error: { code, retryable, message: 'x'.repeat(1000) } });
});

test('a run that is stale ends without touching a generation that goes on elsewhere', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  const family = fakeFamily();
  await abandon(contextOf(server, family), handed, { type: 'LOST', message: 'somebody else has it' });
  expect([row.status, row.outcome, family.canceled]).toEqual(['RUNNING', null, []]);
});

test('what nobody knows is internal', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  await abandon(contextOf(server, fakeFamily()), handed, { type: 'toString', message: 'odd' });
  expect(row.outcome).toMatchObject({ error: { code: 'INTERNAL' } });
});

test.each(['CANCELED', 'FAILED'] as const)('one that is %s already is only stopped at the provider', async (status) => {
  const { row, handed } = server.add('minimax-h3', { ...RUNNING, status });
  const family = fakeFamily();
  await abandon(contextOf(server, family), handed, REASON);
  expect([row.status, row.outcome, family.canceled]).toEqual([status, null, ['job-1']]);
});

test('the job of one that has succeeded is left alone', async () => {
  const { row, handed } = server.add('minimax-h3', { ...RUNNING, status: 'SUCCEEDED' });
  const family = fakeFamily();
  await abandon(contextOf(server, family), handed, REASON);
  expect([row.status, family.canceled]).toEqual(['SUCCEEDED', []]);
});

test('one that is somebody else’s is left alone', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  const family = fakeFamily();
  await abandon(contextOf(server, family), { ...handed, epoch: 9 }, REASON);
  expect([row.outcome, family.canceled]).toEqual([null, []]);
});

test('a provider that cannot cancel stops no end', async () => {
  const { row, handed } = server.add('minimax-h3', RUNNING);
  const cancel = () => Promise.reject(new StepError('TRANSIENT', 'no'));
  await abandon(contextOf(server, fakeFamily({ cancel })), handed, REASON);
  expect(row.status).toBe('FAILED');
});

test('a server that is away is no reason to forget the end', async () => {
  const { handed } = server.add('minimax-h3', RUNNING);
  server.before = () => {
    throw new TypeError('fetch failed');
  };
  await expect(abandon(contextOf(server, fakeFamily()), handed, REASON)).rejects.toMatchObject({ type: 'AWAY' });
});
