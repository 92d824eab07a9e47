import type { StepRecord } from '@review/contract';
import { expect, test } from 'vitest';
import { StepLog } from './step-log.ts';

const shown = (steps: StepRecord[]) => steps.map(({ name, attempt, outcome }) => `${name} ${attempt} ${outcome}`);

test('a report takes the records of earlier steps along; a step without a report passes its own on', async () => {
  const prepare = new StepLog('prepare', 1);
  prepare.add('SUCCEEDED', null);
  const submit = new StepLog('submit', 1, prepare.unsent);
  expect(await submit.send(async (steps) => shown(steps))).toEqual(['prepare 1 SUCCEEDED']);
  expect(await submit.send(async (steps) => shown(steps))).toEqual([]);
  expect(await submit.complete(async (steps) => shown(steps))).toEqual(['submit 1 SUCCEEDED']);
  submit.add('SUCCEEDED', null);
  expect(submit.unsent).toEqual([]);
});

test('a report that fails keeps the records, and its repetition has the same ids', async () => {
  const earlier = new StepLog('prepare', 1);
  earlier.add('SUCCEEDED', null);
  const log = new StepLog('submit', 2, earlier.unsent);
  const ids: string[][] = [];
  const report = async (steps: StepRecord[]) => {
    ids.push(steps.map(({ id }) => id));
    if (ids.length === 1) throw new TypeError('fetch failed');
  };
  await expect(log.complete(report)).rejects.toThrow('fetch failed');
  expect(log.unsent).toHaveLength(1);
  await log.complete(report);
  expect(ids[0]).toHaveLength(2);
  expect(ids[1]).toEqual(ids[0]);
});

test('a record that waits says how long ago the attempt ended, even if it was serialized meanwhile', async () => {
  const first = new StepLog('prepare', 1);
  first.add('SUCCEEDED', null);
  const [step] = first.unsent;
  if (step === undefined) throw new Error('nothing was added');
  const moved: StepLog['unsent'] = JSON.parse(JSON.stringify([{ ...step, endedAt: step.endedAt - 5000 }]));
  const [sent] = await new StepLog('submit', 1, moved).send(async (steps) => steps);
  expect(sent?.ago).toBeGreaterThanOrEqual(5000);
  expect(sent?.ago).toBeLessThan(60_000);
  // The clock of another worker may be ahead.
  const [ahead] = await new StepLog('submit', 1, [{ ...step, endedAt: step.endedAt + 1e6 }]).send(async (s) => s);
  expect(ahead?.ago).toBe(0);
});

test('messages are cut, and only the last hundred records are kept', () => {
  let log = new StepLog('submit', 1);
  for (let attempt = 1; attempt <= 120; attempt += 1) {
    log = new StepLog('submit', attempt, log.unsent);
    log.add('RETRIED', 'x'.repeat(2000));
  }
  expect(log.unsent).toHaveLength(100);
  expect(log.unsent.at(-1)).toMatchObject({ attempt: 120, message: 'x'.repeat(1000) });
});
