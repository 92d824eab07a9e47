import type pg from 'pg';

/** Short, so that the pool still closes idle connections before their timeout. */
const UNUSED_MS = 1000;

interface Kept {
  client: pg.PoolClient;
  returnToPool(isBroken?: boolean): void;
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
    const kept = this.#kept.pop();
    if (kept === undefined) return this.#take();
    this.#unused = Math.min(this.#unused, this.#kept.length);
    return kept.client;
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
    const release = client.release;
    const returnToPool = (isBroken = false) => {
      client.off('error', lose).off('end', lose);
      release(isBroken);
    };
    const kept = { client, returnToPool };
    let isLost = false;
    const lose = () => {
      isLost = true;
      const index = this.#kept.indexOf(kept);
      if (index === -1) return;
      this.#kept.splice(index, 1);
      this.#unused = Math.min(this.#unused, this.#kept.length);
      returnToPool(true);
    };
    client.on('error', lose).on('end', lose);
    client.release = (isBroken = isLost) => {
      if (isBroken || this.#pool.ending || this.#pool.waitingCount > 0) returnToPool(Boolean(isBroken));
      else this.#kept.push(kept);
    };
    return client;
  }
}
