import type pg from 'pg';

/** What `pg` has beyond its type declarations. */
declare module 'pg' {
  interface ClientBase {
    /** False once the connection is lost. The pool closes such a connection when it is returned. */
    _queryable: boolean;
  }
}

/** Short, so that the pool still closes idle connections before their timeout. */
const UNUSED_MS = 1000;

interface Kept {
  client: pg.PoolClient;
  returnToPool(): void;
}

/**
 * Hands out connections of a pool. A released one is kept for the next caller, because the queue, the timers and the listeners of
 * the pool cost as much as a short statement. Those that were not needed for a second return to the pool.
 */
export class KeptConnections {
  /** For Kysely. */
  readonly options: object;
  readonly #pool: pg.Pool;
  /** The last one is used next. */
  readonly #kept: Kept[] = [];
  /** How many of the first ones were not used since the last return. */
  #unused = 0;
  readonly #returning: NodeJS.Timeout;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    this.options = pool.options;
    this.#returning = setInterval(() => this.#returnUnused(), UNUSED_MS).unref();
  }

  get totalCount(): number {
    return this.#pool.totalCount;
  }

  get idleCount(): number {
    return this.#pool.idleCount + this.#kept.length;
  }

  get waitingCount(): number {
    return this.#pool.waitingCount;
  }

  async connect(): Promise<pg.PoolClient> {
    for (let kept = this.#kept.pop(); kept !== undefined; kept = this.#kept.pop()) {
      this.#unused = Math.min(this.#unused, this.#kept.length);
      if (kept.client._queryable) return kept.client;
      kept.returnToPool();
    }
    return this.#take();
  }

  end(): Promise<void> {
    clearInterval(this.#returning);
    const ended = this.#pool.end();
    this.#unused = this.#kept.length;
    this.#returnUnused();
    return ended;
  }

  #returnUnused(): void {
    for (const { returnToPool } of this.#kept.splice(0, this.#unused)) returnToPool();
    this.#unused = this.#kept.length;
  }

  async #take(): Promise<pg.PoolClient> {
    const client = await this.#pool.connect();
    const returnToPool = client.release;
    const kept = { client, returnToPool };
    client.release = (isBroken = false) => {
      const isKept = !isBroken && client._queryable && !this.#pool.ending && this.#pool.waitingCount === 0;
      if (isKept) this.#kept.push(kept);
      else returnToPool(isBroken);
    };
    return client;
  }
}
