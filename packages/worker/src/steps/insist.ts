import { setTimeout as delay } from 'node:timers/promises';
import { StepError, type StepErrorType } from '../step-error.ts';

const MOST_DELAY_MS = 2000;
const PASSING: ReadonlySet<string> = new Set<StepErrorType>(['AWAY', 'STORAGE_FULL']);

/** Waits out a server that is away or a storage that takes nothing: what is in hand was paid for, a new try would pay again. */
export async function insist<T>(signal: AbortSignal, work: (tries: number) => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work(tries);
    } catch (error) {
      if (!(error instanceof StepError) || !PASSING.has(error.type)) throw error;
      await delay(Math.min(MOST_DELAY_MS, 100 * 2 ** tries), undefined, { signal }).catch(() => {
        // Its time is over: what it waited for is the reason.
        throw error;
      });
    }
  }
}
