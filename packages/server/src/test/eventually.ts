import { setTimeout as delay } from 'node:timers/promises';

/** Leaves the processor to the process that is waited for. */
const POLL_MS = 5;

/** Options of a test whose point is a bound of time: a stalled machine is late once, a missing notification every time. */
export const TIMED = { retry: 2 };

/** Polls until there is a result and returns it with the elapsed milliseconds; fails after the deadline. */
export async function eventually(
  question: () => Promise<boolean>,
  what: string,
  deadlineMilliseconds = 30_000,
): Promise<number> {
  const started = performance.now();
  while (performance.now() - started < deadlineMilliseconds) {
    if (await question()) return performance.now() - started;
    await delay(POLL_MS);
  }
  throw new Error(`not within ${deadlineMilliseconds} ms: ${what}`);
}
