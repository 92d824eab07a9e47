import { setImmediate as nextTurn } from 'node:timers/promises';

/** Asks until the answer is there, and how many milliseconds that took; gives up after the deadline. */
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
