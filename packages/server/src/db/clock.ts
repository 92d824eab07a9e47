import { type RawBuilder, sql } from 'kysely';
import type { OpenDatabase } from './database.ts';
import { timestamp } from './time.ts';

/** By how much of the time that passes a jump is caught up with: leases, renewed three times over, hold all the same. */
const CATCHING_UP = 0.25;

let [told, toldAt] = [Date.now(), performance.now()];

/**
 * The host's clock without its jumps, in milliseconds, for leases and deadlines: when the clock is set forward or back,
 * nothing lapses that has not lapsed. What is told nears the new time bit by bit, so that hosts come to agree again.
 */
export function steadyNow(): number {
  const passed = performance.now() - toldAt;
  const ahead = Date.now() - (told + passed);
  const most = passed * CATCHING_UP;
  told += passed + Math.min(most, Math.max(-most, ahead));
  toldAt += passed;
  return told;
}

/** As stored: the steady time that many seconds from now. */
export const steadyTime = (secondsFromNow = 0): string =>
  timestamp(Math.round((steadyNow() + secondsFromNow * 1000) * 1000));

/** A time for leases, deadlines and heartbeats, as part of a query: now, or that many seconds later. */
export type Clock = (secondsFromNow?: number) => RawBuilder<string>;

/** Servers that share a Postgres go by its clock, since their own may differ; on SQLite there is one host. */
export const clockOf = (dialect: OpenDatabase['dialect']): Clock =>
  dialect === 'postgres'
    ? (seconds = 0) =>
        sql<string>`to_char((statement_timestamp() at time zone 'UTC') + make_interval(secs => ${seconds}), 'YYYY-MM-DD HH24:MI:SS.US')`
    : (seconds = 0) => sql<string>`${steadyTime(seconds)}`;
