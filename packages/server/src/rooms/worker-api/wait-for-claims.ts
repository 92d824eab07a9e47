import { setTimeout as delay } from 'node:timers/promises';
import type { Deps } from '../../deps.ts';

/** How often a waiting claim looks for new work. */
const POLL_INTERVAL_MS = 500;

interface Waiting {
  /** In seconds. */
  wait: number;
  /** Aborted when the worker disconnects. */
  signal: AbortSignal;
  /** Waits between two claims; it may end early, when there may be new work. */
  pause?: (milliseconds: number, ended: AbortSignal) => Promise<unknown>;
}

const sleep = (milliseconds: number, signal: AbortSignal) => delay(milliseconds, undefined, { signal }).catch(() => {});

/**
 * Repeats the claim until it has found something or the seconds are over. Claims nothing after the worker has disconnected: a lease
 * that it does not learn of would delay the work.
 */
export async function waitForClaims<T>(
  { config, stopping }: Pick<Deps, 'config' | 'stopping'>,
  { wait, signal, pause = sleep }: Waiting,
  claim: () => Promise<T[]>,
): Promise<T[]> {
  const deadline = performance.now() + wait * 1000;
  const ended = AbortSignal.any([signal, stopping]);
  while (!ended.aborted) {
    const claimed = config.engine === 'embedded' ? await claim() : [];
    const left = deadline - performance.now();
    if (claimed.length > 0 || left <= 0) return claimed;
    await pause(Math.min(POLL_INTERVAL_MS, left), ended);
  }
  return [];
}
