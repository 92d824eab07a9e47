import { setTimeout as delay } from 'node:timers/promises';
import type { Moment } from '../../db/clock.ts';
import type { Deps } from '../../deps.ts';
import { listAvailable } from './queries.ts';

const POLL_INTERVAL_MS = 500;
const MAX_BATCH = 50;

interface Starter<T> {
  /** What the workflows are for, in the log. */
  subject: string;
  /** How long a workflow has to take a claim over before it is started again, which does nothing while it waits or runs. */
  leaseSeconds: number;
  claim(asked: { now: Moment; leaseUntil: Moment; limit: number }): Promise<T[]>;
  start(claimed: T): Promise<void>;
  /** Ends the lease of a claim whose workflow was not started. */
  release(claimed: T): Promise<unknown>;
}

/** Claims what is due and starts a workflow for each claim, until the signal aborts. */
export async function keepStartingWorkflows<T>(
  { db, clock, log }: Pick<Deps, 'db' | 'clock' | 'log'>,
  { subject, leaseSeconds, claim, start, release }: Starter<T>,
  stop: AbortSignal,
): Promise<void> {
  const startDue = async () => {
    // Without a worker, workflows would only wait.
    if ((await listAvailable(db, clock)).length === 0) return;
    const claims = await claim({ now: clock(), leaseUntil: clock(leaseSeconds), limit: MAX_BATCH });
    await Promise.all(
      claims.map((claimed) =>
        start(claimed).catch(async (error: unknown) => {
          await release(claimed);
          throw error;
        }),
      ),
    );
  };
  while (!stop.aborted) {
    await startDue().catch((error: unknown) => log.debug({ err: error }, `${subject} workflows not started; retrying`));
    await delay(POLL_INTERVAL_MS, undefined, { signal: stop }).catch(() => {});
  }
}
