import { backOffMs } from './back-off.ts';
import { pause } from './pause.ts';
import { ApiProblem } from './problem.ts';

export const DELAYS = { firstDelayMs: 300, maxDelayMs: 10_000 };
/** The maximum of all Retry-After delays of one call: somewhat more than a rate limit window. */
const MAX_RETRY_AFTER_MS = 120_000;
/** Timeouts and gateway errors: the request failed, or its outcome is unknown. */
const TRANSIENT_STATUSES: readonly number[] = [408, 502, 503, 504];

interface RetryOptions {
  /** The maximum of retries, not counting those after a Retry-After. */
  retries: number;
  signal?: AbortSignal | undefined;
  /** Statuses to retry, in addition to the default ones. */
  transientStatuses?: readonly number[];
}

export interface Attempt {
  /** An earlier attempt got no answer, so the service may have carried it out. */
  uncertain: boolean;
}

/** Retries transient errors with back-off and jitter, and honours Retry-After. `work` must be idempotent. */
export async function retryTransient<T>(
  work: (attempt: Attempt) => Promise<T>,
  { retries, signal, transientStatuses = [] }: RetryOptions,
): Promise<T> {
  let failures = 0;
  let retryAfterMs = 0;
  let uncertain = false;
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await work({ uncertain });
    } catch (error) {
      signal?.throwIfAborted();
      if (retries === 0 || !isTransient(error, transientStatuses)) throw error;
      uncertain ||= !(error instanceof ApiProblem) || TRANSIENT_STATUSES.includes(error.status);
      const retryAfter = retryAfterOf(error);
      if (retryAfter !== null) {
        retryAfterMs += retryAfter;
        if (retryAfterMs > MAX_RETRY_AFTER_MS) throw error;
        await pause(retryAfter + Math.random() * DELAYS.firstDelayMs, signal);
      } else {
        if (failures === retries) throw error;
        // Full jitter spreads the retries of clients that failed together.
        await pause(Math.random() * backOffMs(DELAYS, failures), signal);
        failures += 1;
      }
    }
  }
}

/** Whether the same request may succeed later. */
export function isTransient(error: unknown, transientStatuses: readonly number[] = []): boolean {
  if (!(error instanceof ApiProblem)) return hasNoAnswer(error);
  if (error.status === 429 || error.code === 'IDEMPOTENCY_IN_PROGRESS') return true;
  return TRANSIENT_STATUSES.includes(error.status) || transientStatuses.includes(error.status);
}

/** Whether `fetch` failed to connect or timed out. */
const hasNoAnswer = (error: unknown) =>
  error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError');

/** The milliseconds of a Retry-After; null if the answer has none. */
export const retryAfterOf = (error: unknown): number | null =>
  error instanceof ApiProblem && error.retryAfter !== null ? Math.max(1, error.retryAfter) * 1000 : null;

/** Combines the caller's signal with a timeout; null if there is neither. */
export function withTimeout(signal: AbortSignal | undefined, timeoutMs: number): AbortSignal | null {
  const signals = signal ? [signal] : [];
  if (Number.isFinite(timeoutMs)) signals.push(AbortSignal.timeout(timeoutMs));
  return signals.length === 0 ? null : AbortSignal.any(signals);
}
