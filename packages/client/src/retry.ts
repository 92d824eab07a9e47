import { pause } from './pause.ts';
import { ApiProblem } from './problem.ts';

const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 10_000;
/** How long one call may wait altogether because the service says when to come back: a rate window and a bit. */
const TOLD_LIMIT_MS = 120_000;
/** Timeouts and gateway errors: the request was not carried out, or its outcome is unknown. */
const PASSING: readonly number[] = [408, 502, 503, 504];

interface Patience {
  /** How often a failure may be followed by another try. */
  retries: number;
  signal?: AbortSignal | undefined;
  /** Statuses that may pass, beside those that always may. */
  passing?: readonly number[];
}

export interface Try {
  /** An earlier try got no answer of the service, so it may have been carried out. */
  uncertain: boolean;
}

/** Tries until it succeeds, fails for good or the patience is over. What it repeats must be safe to repeat. */
export async function persist<T>(
  work: (attempt: Try) => Promise<T>,
  { retries, signal, passing = [] }: Patience,
): Promise<T> {
  let failures = 0;
  let toldMs = 0;
  let uncertain = false;
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await work({ uncertain });
    } catch (error) {
      signal?.throwIfAborted();
      if (retries === 0 || !isPassing(error, passing)) throw error;
      uncertain ||= !(error instanceof ApiProblem) || PASSING.includes(error.status);
      const told = toldPause(error);
      if (told !== null) {
        toldMs += told;
        if (toldMs > TOLD_LIMIT_MS) throw error;
        await pause(told + Math.random() * FIRST_PAUSE_MS, signal);
      } else {
        if (failures === retries) throw error;
        // Full jitter: clients that failed together do not come back together.
        await pause(Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures), signal);
        failures += 1;
      }
    }
  }
}

/** Whether the same request may succeed a little later. */
function isPassing(error: unknown, passing: readonly number[]): boolean {
  if (!(error instanceof ApiProblem)) return hasNoAnswer(error);
  if (error.status === 429 || error.code === 'IDEMPOTENCY_IN_PROGRESS') return true;
  return PASSING.includes(error.status) || passing.includes(error.status);
}

/** The connection failed or took too long, as `fetch` says it. */
const hasNoAnswer = (error: unknown) =>
  error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError');

const toldPause = (error: unknown): number | null =>
  error instanceof ApiProblem && error.retryAfter !== null ? Math.max(1, error.retryAfter) * 1000 : null;

/** The caller's signal and the time a single try may take, as one signal. */
export function limited(signal: AbortSignal | undefined, timeoutMs: number): AbortSignal | null {
  const signals = signal ? [signal] : [];
  if (Number.isFinite(timeoutMs)) signals.push(AbortSignal.timeout(timeoutMs));
  return signals.length === 0 ? null : AbortSignal.any(signals);
}
