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
  for (let [attempts, last]: [number, StepError | null] = [0, null]; ; attempts++) {
    try {
      return await work(attempts);
    } catch (error) {
      const isPassing = error instanceof StepError && PASSING.has(error.type);
      // At the timeout, which may abort the work too, the last error is the reason.
      if (!isPassing) throw signal.aborted && last !== null ? last : error;
      last = error;
      await delay(backOffMs(DELAYS, attempts), undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
}
