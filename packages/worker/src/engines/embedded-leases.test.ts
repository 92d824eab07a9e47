import { once } from 'node:events';
import { expect, test } from 'vitest';
import { StepError } from '../step-error.ts';
import { embeddedEngine, isBusy } from '../test/embedded-engine.ts';
import { contextOf, fakeFamily } from '../test/fake-family.ts';

const engine = embeddedEngine();

test('leases are renewed before they expire', async () => {
  const { server, soon, run, waiting } = engine();
  server.leaseSeconds = 0.3;
  waiting('minimax-h3');
  const running = run(fakeFamily({ poll: async () => ({ state: 'running', progress: 0, retryAfterMs: 60_000 }) }));
  await expect.poll(() => server.calls.filter((call) => call === 'renew').length).toBeGreaterThan(3);
  soon.abort();
  await running;
});

test('after an outage, leases are renewed before the next claim, which could take them over', async () => {
  const { server, soon, run, waiting } = engine();
  waiting('minimax-h3');
  let away = 2;
  server.before = (call) => {
    if (call === 'claim' && server.claimed.length > 0 && away-- > 0) throw new TypeError('fetch failed');
  };
  const running = run(fakeFamily({ poll: async () => ({ state: 'running', progress: 0, retryAfterMs: 60_000 }) }));
  const leases = () => server.calls.filter((call) => call === 'claim' || call === 'renew');
  await expect.poll(() => leases().length).toBeGreaterThan(6);
  expect(leases().slice(0, 7)).toEqual(['claim', 'claim', 'renew', 'claim', 'renew', 'claim', 'claim']);
  soon.abort();
  await running;
});

test('a worker that stops does not wait for a renewal that the server never answers', async () => {
  const { server, soon, run, waiting } = engine();
  waiting('minimax-h3');
  server.answersRenewals = new Promise(() => {});
  let away = 1;
  server.before = (call) => {
    if (call === 'claim' && server.claimed.length > 0 && away-- > 0) throw new TypeError('fetch failed');
  };
  const running = run(fakeFamily({ poll: async () => ({ state: 'running', progress: 0, retryAfterMs: 60_000 }) }));
  await expect.poll(() => server.calls).toContain('renew');
  soon.abort();
  await running;
});

test('a late answer to a renewal does not abort the run of a later claim', async () => {
  const { server, soon, run, waiting } = engine();
  server.leaseSeconds = 0.3;
  const [row] = waiting('minimax-h3');
  if (row === undefined) throw new Error('there is no row');
  const answers = Promise.withResolvers<void>();
  const renewed = Promise.withResolvers<void>();
  const aborted: boolean[] = [];
  server.before = (call) => {
    if (call !== 'renew' || row.epoch !== 1) return;
    server.answersRenewals = answers.promise;
    row.epoch = 2;
    server.claimable.push({ fileId: row.fileId, family: row.family, epoch: 2 });
    renewed.resolve();
  };
  const go = Promise.withResolvers<void>();
  const family = fakeFamily({
    async poll({ signal }) {
      const epoch = row.epoch;
      if (epoch === 1) return { state: 'running', progress: 0, retryAfterMs: 60_000 };
      answers.resolve();
      await Promise.race([go.promise, once(signal, 'abort')]);
      aborted.push(signal.aborted);
      return { state: 'succeeded', output: {} };
    },
  });
  const running = run(family);
  await renewed.promise;
  await answers.promise;
  // Renewals of the second run, which are answered after that of the first.
  const before = server.calls.length;
  await expect.poll(() => server.calls.slice(before).filter((call) => call === 'renew').length).toBeGreaterThan(2);
  go.resolve();
  await expect.poll(() => row.outcome?.status).toBe('SUCCEEDED');
  expect(aborted).not.toContain(true);
  soon.abort();
  await running;
});

test('the job of a generation that ended at its deadline is canceled, although the server is away for a moment', async () => {
  const { server, soon, run, waiting } = engine();
  server.leaseSeconds = 0.3;
  const [row] = waiting('minimax-h3');
  if (row === undefined) throw new Error('there is no row');
  let [isPolled, away] = [false, 2];
  server.before = (call) => {
    if (call === 'renew' && isPolled) row.status = 'FAILED';
    if (call === 'getTask' && row.status === 'FAILED' && away-- > 0) throw new TypeError('fetch failed');
  };
  const family = fakeFamily({
    async poll() {
      isPolled = true;
      return { state: 'running', progress: 0, retryAfterMs: 60_000 };
    },
  });
  const running = run(family);
  await expect.poll(() => family.canceled).toEqual(['job-1']);
  expect(away).toBeLessThan(0);
  expect(row.outcome).toBeNull();
  soon.abort();
  await running;
});

test('a generation bound to another provider is released at once and not changed', async () => {
  const { server, soon, run, waiting } = engine();
  const [row] = waiting('minimax-h3');
  const family = fakeFamily();
  const context = contextOf(server, family);
  const running = run(family, {
    ...context,
    family: () => {
      throw new StepError('NOT_MINE', 'no key');
    },
  });
  await expect.poll(() => server.released).toEqual([row?.fileId]);
  expect([row?.outcome, row?.status]).toEqual([null, 'QUEUED']);
  soon.abort();
  await running;
});

test('a generation whose lease is lost stops without an error', async () => {
  const { server, soon, run, waiting } = engine();
  const [row] = waiting('minimax-h3');
  const family = fakeFamily({
    async submit({ task }) {
      if (row?.fileId === task.fileId) row.epoch += 1;
      return { job: { id: 'job' } };
    },
  });
  const context = contextOf(server, family);
  const running = run(family, context);
  await expect.poll(() => family.orders.length).toBe(1);
  await expect.poll(() => isBusy(context)).toBe(false);
  expect(row?.outcome).toBeNull();
  expect(server.calls).not.toContain('finish');
  soon.abort();
  await running;
});

test('claiming the same generation again aborts the earlier run', async () => {
  const { server, soon, run, waiting } = engine();
  const [row] = waiting('minimax-h3');
  const aborted = Promise.withResolvers<void>();
  const family = fakeFamily({
    async submit({ signal }) {
      if (family.orders.length > 1) return { job: { id: 'job' } };
      signal.addEventListener('abort', () => aborted.resolve());
      await aborted.promise;
      throw new StepError('AMBIGUOUS_SUBMIT', 'cut off');
    },
    lookUp: async () => null,
  });
  const running = run(family);
  await expect.poll(() => family.orders.length).toBe(1);
  if (row === undefined) throw new Error('there is no row');
  row.epoch += 1;
  server.claimable.push({ fileId: row.fileId, family: row.family, epoch: row.epoch });
  await aborted.promise;
  await expect.poll(() => row.outcome?.status).toBe('SUCCEEDED');
  soon.abort();
  await running;
});

test('a stop lets running submits finish and releases every lease', async () => {
  const { server, soon, run, waiting } = engine();
  const rows = waiting(...Array.from({ length: 8 }, () => 'minimax-h3'));
  const go = Promise.withResolvers<void>();
  const family = fakeFamily({
    async submit() {
      await go.promise;
      return { job: { id: 'job' } };
    },
  });
  const running = run(family);
  await expect.poll(() => family.orders.length).toBe(4);
  soon.abort();
  go.resolve();
  await running;
  expect(family.orders).toHaveLength(4);
  expect(rows.filter(({ stages }) => stages['submit']?.job !== undefined)).toHaveLength(4);
  expect(rows.filter(({ stages }) => stages['submit'] === undefined)).toHaveLength(4);
  expect(rows.map(({ outcome }) => outcome)).toEqual(rows.map(() => null));
  expect(server.released.toSorted()).toEqual(rows.map(({ fileId }) => fileId).toSorted());
});
