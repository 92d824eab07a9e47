import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { StepError } from '../step-error.ts';
import { embeddedEngine, isBusy } from '../test/embedded-engine.ts';
import { contextOf, fakeFamily } from '../test/fake-family.ts';
import type { Row } from '../test/fake-server.ts';

const engine = embeddedEngine();

const ended = (rows: Row[]) => expect.poll(() => rows.every(({ outcome }) => outcome !== null));

test('every generation runs its steps, which are recorded', async () => {
  const { server, soon, run, waiting } = engine();
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
  const { server, soon, run, waiting } = engine();
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
  const { server, soon, run, waiting } = engine();
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
  const { server, soon, run, waiting } = engine();
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
  const { soon, run, waiting } = engine();
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
  const { soon, run, waiting } = engine();
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
  const { soon, run, waiting } = engine();
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
  const { soon, run, waiting } = engine();
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
  const { soon, run, waiting } = engine();
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

test('an answer of the provider resets the count of attempts', async () => {
  const { soon, run, waiting } = engine();
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
  const { server, soon, run, waiting } = engine();
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
