import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Drain } from '../drain.ts';
import type { Family } from '../families/family.ts';
import { StepError } from '../step-error.ts';
import type { StepContext } from '../steps/context.ts';
import { contextOf, fakeFamily } from '../test/fake-family.ts';
import { type FakeServer, fakeServer, type Row } from '../test/fake-server.ts';
import { runEmbedded } from './embedded.ts';

let server: FakeServer;
let soon: AbortController;
beforeEach(async () => {
  server = await fakeServer();
  soon = new AbortController();
});
afterEach(async () => {
  soon.abort();
  await server[Symbol.asyncDispose]();
});

const run = (family: Family, context = contextOf(server, family)) =>
  runEmbedded(
    context,
    { worker: 'left', concurrency: 20 },
    { soon: soon.signal, now: new AbortController().signal },
    new Drain(),
  );

/** Rows that the worker will claim. */
function waiting(...models: string[]): Row[] {
  return models.map((model) => {
    const { row, handed } = server.add(model);
    server.claimable.push(handed);
    return row;
  });
}

const ended = (rows: Row[]) => expect.poll(() => rows.every(({ outcome }) => outcome !== null));

/** Whether the engine holds a generation. It does for a moment after the server has its outcome, and a stop would release it. */
async function isBusy({ metrics }: StepContext): Promise<boolean> {
  return /^generations_in_progress\{.*\} [1-9]/m.test(await metrics.registry.metrics());
}

test('every generation runs its steps, which are recorded', async () => {
  const rows = waiting('minimax-h3', 'meshy-7', 'markdown');
  const family = fakeFamily();
  const context = contextOf(server, family);
  const running = run(family, context);
  await ended(rows).toBe(true);
  for (const row of rows) {
    expect(row.outcome).toEqual({ status: 'SUCCEEDED', warnings: [] });
    expect(row.steps).toEqual([
      'prepare 1 SUCCEEDED',
      'submit 1 SUCCEEDED',
      'awaitJob 1 SUCCEEDED',
      'store 1 SUCCEEDED',
    ]);
  }
  expect(family.orders).toHaveLength(3);
  await expect.poll(() => isBusy(context)).toBe(false);
  soon.abort();
  await running;
  expect(server.released).toEqual([]);
  expect(server.calls).not.toContain('release');
});

test('attempts are counted by family, step and outcome, and generations while they are held', async () => {
  const [row] = waiting('minimax-h3');
  const go = Promise.withResolvers<void>();
  let polls = 0;
  const family = fakeFamily({
    async poll() {
      polls += 1;
      if (polls === 1) throw new StepError('NOT_READY', 'not yet', 1);
      if (polls === 2) throw new StepError('TRANSIENT', 'a hiccup', 1);
      await go.promise;
      return { state: 'succeeded', output: {} };
    },
  });
  const context = contextOf(server, family);
  const running = run(family, context);
  const shown = async () => (await context.metrics.registry.metrics()).split('\n');
  await expect.poll(() => polls).toBe(3);
  expect(await shown()).toContain('generations_in_progress{family="minimax"} 1');
  go.resolve();
  await ended(row ? [row] : []).toBe(true);
  await expect.poll(() => isBusy(context)).toBe(false);
  soon.abort();
  await running;
  const lines = await shown();
  for (const [step, outcome] of [
    ['submit', 'SUCCEEDED'],
    ['awaitJob', 'WAITED'],
    ['awaitJob', 'RETRIED'],
    ['awaitJob', 'SUCCEEDED'],
    ['finish', 'SUCCEEDED'],
  ]) {
    expect(lines).toContain(`generation_steps_total{family="minimax",step="${step}",outcome="${outcome}"} 1`);
  }
  expect(lines).toContain('generation_step_seconds_count{family="minimax",step="awaitJob"} 3');
  expect(lines).toContain('generations_in_progress{family="minimax"} 0');
});

test('a small result takes three reports after the claim', async () => {
  const [row] = waiting('minimax-h3');
  const family = fakeFamily();
  const context = contextOf(server, family);
  const running = run(family, context);
  await expect.poll(() => row?.outcome?.status).toBe('SUCCEEDED');
  await expect.poll(() => isBusy(context)).toBe(false);
  soon.abort();
  await running;
  expect(server.calls.filter((call) => call !== 'claim')).toEqual(['reserveSubmit', 'submitted', 'storeResult']);
});

test('a full worker claims for several slots at once', async () => {
  const rows = waiting(...Array.from({ length: 60 }, () => 'minimax-h3'));
  const running = run(fakeFamily());
  await ended(rows).toBe(true);
  const [first, ...others] = server.claimed;
  expect(first).toBe(20);
  // A quarter of the slots, except where the last ones end late.
  expect(others.length).toBeLessThanOrEqual(10);
  soon.abort();
  await running;
});

test('a single free slot is claimed while long generations run in the others', async () => {
  const go = Promise.withResolvers<void>();
  const long = waiting(...Array.from({ length: 19 }, () => 'minimax-h3'));
  const short = waiting('markdown', 'markdown');
  const family = fakeFamily({
    async poll({ task }) {
      if (task.family === 'minimax') await go.promise;
      return { state: 'succeeded', output: {} };
    },
  });
  const running = run(family);
  await ended(short).toBe(true);
  expect(long.some(({ outcome }) => outcome !== null)).toBe(false);
  go.resolve();
  await ended(long).toBe(true);
  soon.abort();
  await running;
});

test('at most four submits run at once', async () => {
  const rows = waiting(...Array.from({ length: 12 }, () => 'minimax-h3'));
  let [now, most] = [0, 0];
  const family = fakeFamily({
    async submit() {
      now += 1;
      most = Math.max(most, now);
      await delay(20);
      now -= 1;
      return { job: { id: 'job' } };
    },
  });
  const running = run(family);
  await ended(rows).toBe(true);
  expect(most).toBe(4);
  soon.abort();
  await running;
});

test('a rate limit does not count as an attempt and does not block other submits', async () => {
  const limited = waiting(...Array.from({ length: 4 }, () => 'minimax-h3'));
  const [other] = waiting('markdown');
  let refusals = 0;
  const family = fakeFamily({
    async submit({ task }) {
      if (task.family !== 'minimax' || refusals >= 32) return { job: { id: 'job' } };
      refusals += 1;
      throw new StepError('RATE_LIMITED', 'later', 100);
    },
  });
  const started = performance.now();
  const running = run(family);
  await expect.poll(() => other?.outcome?.status).toBe('SUCCEEDED');
  expect(refusals).toBeLessThan(32);
  await ended(limited).toBe(true);
  expect(performance.now() - started).toBeGreaterThan(800);
  for (const row of limited) {
    expect(row.outcome?.status).toBe('SUCCEEDED');
    expect(row.steps).toContain('submit 1 SUCCEEDED');
  }
  soon.abort();
  await running;
});

test('a step that keeps failing fails the generation, and every attempt is recorded', async () => {
  const [row] = waiting('minimax-h3');
  const submit = () => Promise.reject(new StepError('TRANSIENT', 'not today', 1));
  const running = run(fakeFamily({ submit }));
  await expect
    .poll(() => row?.outcome)
    .toMatchObject({
      error: { code: 'PROVIDER_UNAVAILABLE', message: 'not today' },
    });
  expect(row?.steps.slice(1)).toEqual([1, 2, 3, 4].map((n) => `submit ${n} RETRIED`).concat('submit 5 FAILED'));
  soon.abort();
  await running;
});

test('polls and downloads of a paid job are retried until the deadline', async () => {
  const [row] = waiting('minimax-h3');
  let [polls, downloads] = [0, 0];
  const family = fakeFamily({
    async poll() {
      polls += 1;
      if (polls <= 25) throw new StepError('TRANSIENT', 'a hiccup', 1);
      return { state: 'succeeded', output: {} };
    },
    async download({ path }) {
      downloads += 1;
      if (downloads <= 25) throw new StepError('TRANSIENT', 'broke off', 1);
      await writeFile(path, 'content');
    },
  });
  const running = run(family);
  await expect.poll(() => row?.outcome?.status).toBe('SUCCEEDED');
  expect(family.orders).toHaveLength(1);
  soon.abort();
  await running;
});

test('leases are renewed before they expire', async () => {
  server.leaseSeconds = 0.3;
  waiting('minimax-h3');
  const running = run(fakeFamily({ poll: async () => ({ state: 'running', progress: 0, retryAfterMs: 60_000 }) }));
  await expect.poll(() => server.calls.filter((call) => call === 'renew').length).toBeGreaterThan(3);
  soon.abort();
  await running;
});

test('after an outage, leases are renewed before the next claim, which could take them over', async () => {
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

test('an answer of the provider resets the count of attempts', async () => {
  const [row] = waiting('minimax-h3');
  let polls = 0;
  const family = fakeFamily({
    async poll() {
      polls += 1;
      if (polls > 30) return { state: 'succeeded', output: {} };
      if (polls % 2 === 0) throw new StepError('TRANSIENT', 'a hiccup', 0);
      return { state: 'running', progress: 0.1, retryAfterMs: 0 };
    },
  });
  const running = run(family);
  await expect.poll(() => row?.outcome?.status).toBe('SUCCEEDED');
  soon.abort();
  await running;
});

test('an unavailable server fails no generation', async () => {
  const [row] = waiting('minimax-h3');
  let away = 6;
  server.before = (call) => {
    if (call === 'startUpload' && away-- > 0) throw new TypeError('fetch failed');
  };
  const running = run(fakeFamily());
  await expect.poll(() => row?.outcome?.status).toBe('SUCCEEDED');
  soon.abort();
  await running;
}, 20_000);

test('a generation whose lease is lost stops without an error', async () => {
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
