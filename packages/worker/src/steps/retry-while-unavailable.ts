import { setTimeout as delay } from 'node:timers/promises';
import { backOffMs } from '@review/client';
import { StepError, type StepErrorType } from '../step-error.ts';

const DELAYS = { firstDelayMs: 100, maxDelayMs: 2000 };
const PASSING: ReadonlySet<string> = new Set<StepErrorType>(['AWAY', 'STORAGE_FULL']);

/**
 * Retries while the server is unavailable or the storage is full, until the signal aborts. The result in memory is already
 * paid for, so that failing the step would cost a second submit.
 */
export async function retryWhileUnavailable<T>(
  signal: AbortSignal,
  work: (attempts: number) => Promise<T>,
): Promise<T> {
  for (let attempts = 0; ; attempts++) {
    try {
      return await work(attempts);
    } catch (error) {
      if (!(error instanceof StepError) || !PASSING.has(error.type)) throw error;
      await delay(backOffMs(DELAYS, attempts), undefined, { signal }).catch(() => {
        // At the timeout, the last error is the reason.
        throw error;
      });
    }
  }
}
