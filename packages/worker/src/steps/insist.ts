import { setTimeout as delay } from 'node:timers/promises';
import { StepError } from '../step-error.ts';

const MOST_DELAY_MS = 2000;

/** Waits out a server or a storage that is away: what is in hand was paid for, and a new try would pay again. */
export async function insist<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StepError) || error.type !== 'AWAY') throw error;
      await delay(Math.min(MOST_DELAY_MS, 100 * 2 ** tries), undefined, { signal });
    }
  }
}
