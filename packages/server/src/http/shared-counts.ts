import { type RawBuilder, sql } from 'kysely';
import { lookUp } from '../db/look-ups.ts';
import { type Param, type Params, statement } from '../db/prepared.ts';
import type { Database } from '../db/schema.ts';

/** The points of a key in its window, after a change. */
export interface Count {
  consumedPoints: number;
  msBeforeNext: number;
}

interface Change {
  key: string;
  points: number;
  resolve: (count: Count) => void;
  reject: (error: unknown) => void;
}

const NO_LONGER_USED_MS = 60 * 60 * 1000;

/** The milliseconds since the epoch by the clock of Postgres, because the clocks of servers may differ. */
const NOW = sql`cast(extract(epoch from statement_timestamp()) * 1000 as bigint)`;

/** Adds points to the rows of a source, which has a key, its points and the end of a new window. */
function adding(source: RawBuilder<unknown>, windowMs: Param<number>): RawBuilder<Counted> {
  // A window that ends much later than a new one was made before the clock was set back.
  const isOver = sql`(current.expire <= ${NOW} or current.expire > excluded.expire + cast(${windowMs} as bigint))`;
  return sql`
    insert into rate_limits as current (key, points, expire) ${source}
    on conflict (key) do update set
      points = case when ${isOver} then excluded.points else current.points + excluded.points end,
      expire = case when ${isOver} then excluded.expire else current.expire end
    returning key, points, greatest(0, expire - ${NOW}) as ms_left`;
}

interface Counted {
  key: string;
  points: number;
  ms_left: number;
}

const newEnd = (windowMs: Param<number>) => sql`${NOW} + cast(${windowMs} as bigint)`;

type OneKey = { key: string; points: number; windowMs: number };

/** Adds points to a key whose window is not over; returns no row for others. Costs less than looking for a conflict. */
const addToOpen = statement<[Params<OneKey>], Counted>(
  (_, { key, points, windowMs }) => sql`
    update rate_limits set points = points + ${points}
    where key = ${key} and expire > ${NOW} and expire <= ${NOW} + 2 * cast(${windowMs} as bigint)
    returning key, points, expire - ${NOW} as ms_left`,
  lookUp,
);

/** Costs Postgres two thirds of the statement for several keys. */
const addToOne = statement<[Params<OneKey>], Counted>(
  (_, { key, points, windowMs }) => adding(sql`values (${key}, ${points}, ${newEnd(windowMs)})`, windowMs),
  lookUp,
);

const addToSeveral = statement<[Params<{ keys: string[]; points: number[]; windowMs: number }>], Counted>(
  (_, { keys, points, windowMs }) =>
    // All processes lock the rows in the same order, so that two statements cannot block each other.
    adding(
      sql`select key, points, ${newEnd(windowMs)}
        from unnest(cast(${keys} as text[]), cast(${points} as integer[])) as added (key, points) order by key`,
      windowMs,
    ),
);

/**
 * Counts in fixed windows that all processes on one Postgres share. Changes that arrive while a statement runs share the
 * next one; each still gets its own place in the count, so limits are exact.
 */
export class SharedCounts {
  readonly #db: Database;
  readonly #windowMs: number;
  #waiting: Change[] = [];
  #running = false;

  constructor(db: Database, windowSeconds: number) {
    this.#db = db;
    this.#windowMs = windowSeconds * 1000;
  }

  /** Adds points to a key, or takes some back, and returns the count right after that. */
  add(key: string, points: number): Promise<Count> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, points, resolve, reject });
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      const changes = this.#waiting;
      this.#waiting = [];
      await this.#send(Map.groupBy(changes, ({ key }) => key)).catch((error: unknown) => {
        for (const { reject } of changes) reject(error);
      });
    }
    this.#running = false;
  }

  async #send(changes: Map<string, Change[]>): Promise<void> {
    const windowMs = this.#windowMs;
    const keys = [...changes.keys()];
    const sums = [...changes.values()].map(sumOf);
    const counted =
      keys.length === 1
        ? await this.#addToOne({ key: keys[0], points: sums[0], windowMs })
        : (await addToSeveral(this.#db, { keys, points: sums, windowMs }, undefined)).rows;
    for (const { key, points, ms_left: msBeforeNext } of counted) {
      const same = changes.get(key) ?? [];
      let consumedPoints = points - sumOf(same);
      for (const change of same) {
        consumedPoints += change.points;
        change.resolve({ consumedPoints, msBeforeNext });
      }
    }
  }

  async #addToOne(change: { [K in keyof OneKey]: OneKey[K] | undefined }): Promise<Counted[]> {
    const { rows } = await addToOpen(this.#db, change, undefined);
    return rows.length > 0 ? rows : (await addToOne(this.#db, change, undefined)).rows;
  }
}

const sumOf = (changes: Change[]) => changes.reduce((sum, { points }) => sum + points, 0);

/** Deletes the counts of windows that ended long ago. */
export async function deleteExpiredCounts(db: Database): Promise<void> {
  await sql`delete from rate_limits where expire < ${NOW} - ${NO_LONGER_USED_MS}`.execute(db);
}
