import { sql } from 'kysely';
import { type Params, statement } from '../db/prepared.ts';
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

const addPoints = statement<
  [Params<{ keys: string[]; points: number[]; now: number; expire: number }>],
  { key: string; points: number; expire: number }
>(
  // All processes lock the rows in the same order, so that two statements cannot block each other.
  (_, { keys, points, now, expire }) => sql`
    insert into rate_limits as current (key, points, expire)
    select key, points, cast(${expire} as bigint) from unnest(cast(${keys} as text[]), cast(${points} as integer[])) as added (key, points)
    order by key
    on conflict (key) do update set
      points = case when current.expire <= cast(${now} as bigint) then excluded.points else current.points + excluded.points end,
      expire = case when current.expire <= cast(${now} as bigint) then excluded.expire else current.expire end
    returning key, points, expire`,
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
    const sums = [...changes.values()].map(sumOf);
    const now = Date.now();
    const values = { keys: [...changes.keys()], points: sums, now, expire: now + this.#windowMs };
    const { rows } = await addPoints(this.#db, values, undefined);
    for (const { key, points, expire } of rows) {
      const same = changes.get(key) ?? [];
      let consumedPoints = points - sumOf(same);
      for (const change of same) {
        consumedPoints += change.points;
        change.resolve({ consumedPoints, msBeforeNext: Math.max(0, expire - now) });
      }
    }
  }
}

const sumOf = (changes: Change[]) => changes.reduce((sum, { points }) => sum + points, 0);

/** Deletes the counts of windows that ended long ago. */
export async function deleteExpiredCounts(db: Database): Promise<void> {
  await sql`delete from rate_limits where expire < ${Date.now() - NO_LONGER_USED_MS}`.execute(db);
}
