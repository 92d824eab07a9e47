import type pg from 'pg';
import { Batch, type BatchResult, type Described, type NamedStatement } from './batch.ts';
import type { KeptConnections } from './kept-connections.ts';
import { nameStatement, RESULT_UNREAD, statementName } from './statement-names.ts';
import { isOutdatedPlan } from './transaction.ts';

const NO_ROWS = { command: '', rowCount: 0, rows: [] };

nameStatement('begin');
nameStatement('commit');

/**
 * A connection on which Postgres parses and plans each prepared statement once. Sends BEGIN together with the first statement of
 * a transaction, and statements whose result is not read together with the one after them, which saves round trips.
 */
class Connection {
  readonly #client: pg.ClientBase;
  readonly #send: (...args: unknown[]) => Promise<unknown>;
  readonly #described: Described = new Map();
  #names = 0;
  #isInTransaction = false;
  #waiting: NamedStatement[] = [];

  constructor(client: pg.ClientBase) {
    this.#client = client;
    this.#send = client.query.bind(client);
  }

  query(args: unknown[]): Promise<unknown> {
    const [text, values] = args;
    if (typeof text !== 'string' || !Array.isArray(values) || args.length !== 2) return this.#send(...args);
    if (text === 'rollback') {
      const isBegun = this.#waiting[0]?.text !== 'begin';
      this.#waiting = [];
      this.#isInTransaction = false;
      return isBegun ? this.#send(...args) : Promise.resolve(NO_ROWS);
    }
    const statement = this.#named(text, values);
    if (statement.name === '') {
      if (this.#waiting.length === 0) return this.#send(...args);
      return lastOf([this.#sendTogether(this.#waiting), this.#send(...args)]);
    }
    if (text === 'begin') {
      this.#isInTransaction = true;
      this.#waiting = [];
    }
    if (text === 'begin' || (this.#isInTransaction && text.startsWith(RESULT_UNREAD))) {
      this.#waiting.push(statement);
      return Promise.resolve(NO_ROWS);
    }
    if (text === 'commit') this.#isInTransaction = false;
    if (this.#waiting.length > 0) return this.#sendTogether([...this.#waiting, statement]).then(last);
    return this.#sendTogether([statement]).then(last, (error: unknown) => {
      if (!isOutdatedPlan(error)) throw error;
      return this.#sendTogether([this.#named(text, values)]).then(last, () => {
        // The error has aborted a transaction, which `inTransaction` repeats.
        throw error;
      });
    });
  }

  /** Sends prepared statements outside of a transaction. */
  together(queries: readonly { sql: string; parameters: readonly unknown[] }[]): Promise<BatchResult[]> {
    return this.#sendTogether(queries.map(({ sql, parameters }) => this.#named(sql, [...parameters])));
  }

  /** With an empty name if the statement is not prepared. */
  #named(text: string, values: unknown[]): NamedStatement {
    const name = statementName(text);
    return { name: name === undefined ? '' : `${name}-${this.#names}`, text, values };
  }

  #sendTogether(statements: readonly NamedStatement[]): Promise<BatchResult[]> {
    this.#waiting = [];
    const { promise, resolve, reject } = Promise.withResolvers<BatchResult[]>();
    const settle = (error: Error | null, results: BatchResult[] = []) => (error ? reject(error) : resolve(results));
    this.#send(new Batch(this.#client, this.#described, statements, settle));
    return promise.catch((error: unknown) => {
      // A migration has changed a table since the statement was prepared: prepare it again under another name.
      if (isOutdatedPlan(error)) this.#names++;
      throw error;
    });
  }
}

const last = (results: BatchResult[]) => results.at(-1);

const connections = new WeakMap<pg.ClientBase, Connection>();

export function saveRoundTrips(client: pg.ClientBase): void {
  const connection = new Connection(client);
  connections.set(client, connection);
  client.query = new Proxy(client.query, { apply: (_, __, args: unknown[]) => connection.query(args) });
}

function connectionOf(client: pg.ClientBase): Connection {
  const connection = connections.get(client);
  if (connection === undefined) throw new Error('The connection was not prepared by saveRoundTrips.');
  return connection;
}

/** Runs prepared statements that do not depend on each other in one round trip. If one fails, all do. */
export async function runTogether(
  pool: KeptConnections,
  queries: readonly { sql: string; parameters: readonly unknown[] }[],
): Promise<BatchResult[]> {
  const client = await pool.connect();
  try {
    return await connectionOf(client).together(queries);
  } finally {
    client.release();
  }
}

/** Returns the result of the last one. Throws the first error: the later ones follow from it. */
async function lastOf(results: Promise<unknown>[]): Promise<unknown> {
  for (const settled of await Promise.allSettled(results)) if (settled.status === 'rejected') throw settled.reason;
  return results.at(-1);
}
