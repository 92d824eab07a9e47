import { afterEach, expect, test, vi } from 'vitest';
import { steadyClock } from './clock.ts';

afterEach(() => vi.useRealTimers());

const HOUR = 3_600_000;

test.each([HOUR, -HOUR])('a clock jump of %i milliseconds expires nothing, and is slewed gradually', (jump) => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  const steadyNow = steadyClock();
  const before = steadyNow();
  expect(before).toBe(Date.now());
  vi.setSystemTime(Date.now() + jump);
  expect(steadyNow()).toBe(before);
  for (let second = 0; second < 30; second++) {
    vi.advanceTimersByTime(1000);
    steadyNow();
  }
  expect(steadyNow() - before).toBe(30_000 + Math.sign(jump) * 7500);
  vi.advanceTimersByTime(4 * HOUR);
  expect(steadyNow()).toBe(Date.now());
});
