import { type Expression, type OperationNode, type RawBuilder, sql } from 'kysely';
import type { OpenDatabase } from './database.ts';
import { isPostgres, type Param } from './prepared.ts';
import type { Database } from './schema.ts';
import { timestamp } from './time.ts';

/** The maximum slew rate. Leases do not expire by it, because workers renew them three times per lease. */
const MAX_SLEW = 0.25;

/**
 * Returns a clock whose time in milliseconds does not jump, for leases and deadlines: they do not expire when the host's
 * clock is set. Slews towards wall-clock time at no more than 25 %, so that hosts agree again.
 */
export function steadyClock(): () => number {
  let [steady, readAt] = [Date.now(), performance.now()];
  return () => {
    const elapsed = performance.now() - readAt;
    const offset = Date.now() - (steady + elapsed);
    const maxSlew = elapsed * MAX_SLEW;
    steady += elapsed + Math.min(maxSlew, Math.max(-maxSlew, offset));
    readAt += elapsed;
    return steady;
  };
}

export const steadyNow = steadyClock();

/** The steady time that many seconds from now, in the stored format. */
export const steadyTime = (secondsFromNow = 0): string =>
  timestamp(Math.round((steadyNow() + secondsFromNow * 1000) * 1000));

/** A time of leases, deadlines and heartbeats: now, or that many seconds later. */
export class Moment implements Expression<string> {
  readonly seconds: number;
  readonly #onPostgres: boolean;

  constructor(seconds: number, onPostgres: boolean) {
    this.seconds = seconds;
    this.#onPostgres = onPostgres;
  }

  get expressionType(): string | undefined {
    return undefined;
  }

  toOperationNode(): OperationNode {
    const time = this.#onPostgres ? postgresTime(sql.val(this.seconds)) : sql.val(steadyTime(this.seconds));
    return time.toOperationNode();
  }
}

export type Clock = (secondsFromNow?: number) => Moment;

/** Uses the clock of Postgres, because the clocks of servers may differ. SQLite has one host and uses its steady clock. */
export const clockOf =
  (dialect: OpenDatabase['dialect']): Clock =>
  (seconds = 0) =>
    new Moment(seconds, dialect === 'postgres');

/** The time of a moment that each execution of a prepared statement brings. */
export const timeOf = (db: Database, moment: Param<Moment>): RawBuilder<string> =>
  isPostgres(db)
    ? postgresTime(moment.map(({ seconds }) => seconds))
    : sql<string>`${moment.map(({ seconds }) => steadyTime(seconds))}`;

/** The seconds since the epoch by the clock of Postgres, or of the one host of SQLite, for what other services compare with their clock. */
export const wallClockSeconds = (db: Database): RawBuilder<number> =>
  isPostgres(db) ? sql`cast(floor(extract(epoch from statement_timestamp())) as bigint)` : sql`unixepoch()`;

const postgresTime = (seconds: Expression<number>) =>
  sql<string>`to_char((statement_timestamp() at time zone 'UTC') + make_interval(secs => ${seconds}), 'YYYY-MM-DD HH24:MI:SS.US')`;
