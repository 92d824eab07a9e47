import type { CompiledQuery, QueryResult } from 'kysely';
import pg from 'pg';
import type { BatchResult } from './batch.ts';
import { send } from './direct-reads.ts';
import type { Database } from './schema.ts';
import { statementName } from './statement-names.ts';

/** Runs statements in one round trip. They fail together. */
type RunTogether = (queries: readonly CompiledQuery[]) => Promise<BatchResult[]>;

type Found = Pick<BatchResult, 'rows'>;

interface LookUp {
  query: CompiledQuery;
  settle: PromiseWithResolvers<Found>;
}

/** Bounds how long a look-up waits for the others of its turn. */
const MAX_TOGETHER = 16;

/**
 * Look-ups that begin in the same turn of the event loop. A round trip costs the server more than a look-up costs Postgres, and
 * requests that arrive together look up their subjects together.
 */
export class LookUps {
  readonly #db: Database;
  readonly #run: RunTogether;
  #begun: LookUp[] = [];

  constructor(db: Database, run: RunTogether) {
    this.#db = db;
    this.#run = run;
  }

  add(query: CompiledQuery): Promise<Found> {
    const settle = Promise.withResolvers<Found>();
    if (this.#begun.push({ query, settle }) === 1) setImmediate(() => this.#end());
    return settle.promise;
  }

  #end(): void {
    const begun = this.#begun;
    this.#begun = [];
    for (let first = 0; first < begun.length; first += MAX_TOGETHER)
      void this.#send(begun.slice(first, first + MAX_TOGETHER));
  }

  async #send(lookUps: LookUp[]): Promise<void> {
    try {
      const results = await this.#run(lookUps.map(({ query }) => query));
      for (const [index, result] of results.entries()) lookUps[index]?.settle.resolve(result);
    } catch (error) {
      for (const { query, settle } of lookUps) {
        // Each is sent again alone, so that it does not fail because of another.
        if (error instanceof pg.DatabaseError) settle.resolve(this.#db.executeQuery(query));
        else settle.reject(error);
      }
    }
  }
}

const lookUpsOf = new WeakMap<object, LookUps>();

/** Lets the look-ups of a database outside of transactions share round trips. */
export function shareRoundTrips(db: Database, run: RunTogether): void {
  lookUpsOf.set(db.getExecutor(), new LookUps(db, run));
}

export function lookUp<Row>(db: Database, query: CompiledQuery<Row>): Promise<QueryResult<Row>> {
  // Only prepared statements share a round trip, and statements have names until there are too many.
  const lookUps = statementName(query.sql) === undefined ? undefined : lookUpsOf.get(db.getExecutor());
  return lookUps?.add(query) ?? send(db, query);
}
