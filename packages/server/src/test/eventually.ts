import { setImmediate as nextTurn } from 'node:timers/promises';

/** Polls until there is a result and returns it with the elapsed milliseconds; fails after the deadline. */
export async function eventually(
  question: () => Promise<boolean>,
  what: string,
  deadlineMilliseconds = 10_000,
): Promise<number> {
  const started = performance.now();
  while (performance.now() - started < deadlineMilliseconds) {
    if (await question()) return performance.now() - started;
    await nextTurn();
  }
  throw new Error(`not within ${deadlineMilliseconds} ms: ${what}`);
}
