import { expect, test } from 'vitest';
import { Drain } from './drain.ts';

const never = new AbortController().signal;

test('the signal is aborted while the worker drains, and each drain has its own', async () => {
  const drain = new Drain();
  const first = drain.signal;
  await drain.waitUntilOver(never);
  drain.set(false);
  expect(drain.signal).toBe(first);
  drain.set(true);
  drain.set(true);
  expect(first.aborted).toBe(true);
  const over = drain.waitUntilOver(never);
  drain.set(false);
  await over;
  expect(drain.signal.aborted).toBe(false);
  drain.set(true);
  expect(drain.signal.aborted).toBe(true);
});

test('a worker that stops does not wait for the end of the drain', async () => {
  const drain = new Drain();
  drain.set(true);
  const stop = new AbortController();
  const waiting = drain.waitUntilOver(stop.signal);
  stop.abort();
  await waiting;
  await drain.waitUntilOver(stop.signal);
  expect(drain.signal.aborted).toBe(true);
});
