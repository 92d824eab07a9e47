import { expect, test } from 'vitest';
import { Drain } from './drain.ts';

const never = new AbortController().signal;

test('the signal is aborted while the worker drains, and each drain has its own', async () => {
  const drain = new Drain();
  const first = drain.signal;
  await drain.waitUntilOver(never);
  drain.set('operator', false);
  expect(drain.signal).toBe(first);
  drain.set('operator', true);
  drain.set('operator', true);
  expect(first.aborted).toBe(true);
  const over = drain.waitUntilOver(never);
  drain.set('operator', false);
  await over;
  expect(drain.signal.aborted).toBe(false);
  drain.set('operator', true);
  expect(drain.signal.aborted).toBe(true);
});

test('a worker that stops does not wait for the end of the drain', async () => {
  const drain = new Drain();
  drain.set('operator', true);
  const stop = new AbortController();
  const waiting = drain.waitUntilOver(stop.signal);
  stop.abort();
  await waiting;
  await drain.waitUntilOver(stop.signal);
  expect(drain.signal.aborted).toBe(true);
});

test('a drain is over when none of its reasons is left', () => {
  const drain = new Drain();
  drain.set('operator', true);
  drain.set('older server', true);
  drain.set('operator', false);
  expect(drain.signal.aborted).toBe(true);
  drain.set('older server', false);
  expect(drain.signal.aborted).toBe(false);
});
