import { setTimeout as delay } from 'node:timers/promises';
import { backOffMs } from '@review/client';
import type { Logger } from 'pino';
import type { Drain } from '../drain.ts';

const CLAIM_WAIT_SECONDS = 20;
const CLAIM_DELAYS = { firstDelayMs: 100, maxDelayMs: 5000 };

interface ClaimLoop<T> {
  /** What is claimed, for the log. */
  subject: string;
  /** How many claims are worked on at once. */
  concurrency: number;
  log: Logger;
  stop: AbortSignal;
  drain: Drain;
  claim(body: { most: number; wait: number }, options: { signal: AbortSignal }): Promise<T[]>;
  work(claimed: T): Promise<void>;
  /** The fields of a log line about a claim. */
  fields(claimed: T): object;
}

/** Claims under a lease, except while the worker drains, and works on each claim, until `stop` aborts; then waits for what runs. A failed claim is repeated after its lease. */
export async function runClaimLoop<T>(loop: ClaimLoop<T>): Promise<void> {
  const { subject, concurrency, log, stop, drain, claim, work, fields } = loop;
  const running = new Set<Promise<void>>();
  for (let failures = 0; !stop.aborted; ) {
    if (running.size >= concurrency) {
      await Promise.race(running);
      continue;
    }
    await drain.waitUntilOver(stop);
    if (stop.aborted) break;
    try {
      const body = { most: concurrency - running.size, wait: CLAIM_WAIT_SECONDS };
      const signal = AbortSignal.any([stop, AbortSignal.timeout((CLAIM_WAIT_SECONDS + 10) * 1000)]);
      for (const claimed of await claim(body, { signal })) {
        const run = work(claimed)
          .catch((error: unknown) =>
            log.warn({ err: error, ...fields(claimed) }, `${subject} interrupted; repeated after the lease`),
          )
          .finally(() => running.delete(run));
        running.add(run);
      }
      failures = 0;
    } catch (error) {
      if (stop.aborted) break;
      log.debug({ err: error }, `${subject} not claimed; retrying`);
      await delay(backOffMs(CLAIM_DELAYS, failures), undefined, { signal: stop }).catch(() => {});
      failures += 1;
    }
  }
  await Promise.all(running);
}
