import { type RawBuilder, sql } from 'kysely';
import type { OpenDatabase } from './database.ts';
import { timestamp } from './time.ts';

/** The maximum slew rate. Leases do not expire by it, because workers renew them three times per lease. */
const MAX_SLEW = 0.25;

let [steady, readAt] = [Date.now(), performance.now()];

/**
 * Returns the time in milliseconds without jumps, for leases and deadlines: they do not expire when the host's clock is
 * set. Slews towards wall-clock time at no more than 25 %, so that hosts agree again.
 */
export function steadyNow(): number {
  const elapsed = performance.now() - readAt;
  const offset = Date.now() - (steady + elapsed);
  const maxSlew = elapsed * MAX_SLEW;
  steady += elapsed + Math.min(maxSlew, Math.max(-maxSlew, offset));
  readAt += elapsed;
  return steady;
}

/** The steady time that many seconds from now, in the stored format. */
export const steadyTime = (secondsFromNow = 0): string =>
  timestamp(Math.round((steadyNow() + secondsFromNow * 1000) * 1000));

/** Returns the time of leases, deadlines and heartbeats as a query expression: now, or that many seconds later. */
export type Clock = (secondsFromNow?: number) => RawBuilder<string>;

/** Uses the clock of Postgres, because the clocks of servers may differ. SQLite has one host and uses its steady clock. */
export const clockOf = (dialect: OpenDatabase['dialect']): Clock =>
  dialect === 'postgres'
    ? (seconds = 0) =>
        sql<string>`to_char((statement_timestamp() at time zone 'UTC') + make_interval(secs => ${seconds}), 'YYYY-MM-DD HH24:MI:SS.US')`
    : (seconds = 0) => sql<string>`${steadyTime(seconds)}`;
