import { Socket } from 'node:net';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { DatabaseTimeouts, OpenDatabase, PostgresAddress } from './database.ts';
import type { Schema } from './schema.ts';
import { nameStatement, RESULT_UNREAD, statementName } from './statement-names.ts';
import { isOutdatedPlan } from './transaction.ts';

declare module 'pg' {
  interface Connection {
    /** The texts of named statements that were sent to be prepared, until Postgres has done so. */
    submittedNamedStatements: Record<string, string>;
  }
  interface Query {
    /** What `pg` remembers as prepared when Postgres says so. */
    name: string;
    text: string;
    handleCommandComplete(message: unknown, connection: Connection): void;
    handleError(error: Error, connection: Connection): void;
  }
}

const BIGINT = 20;
const DEFAULT_CONNECT_SECONDS = 5;
const KEEPALIVE_SECONDS = 10;
/** Added to the statement timeout: a connection without a response for that long is dead. */
const SILENCE_BEYOND_STATEMENT_SECONDS = 5;
const PROBE_MS = 900;

export function openPostgres(address: PostgresAddress, onError: (error: Error) => void): OpenDatabase {
  const { timeouts } = address;
  const pool = new pg.Pool({
    ...connectionOptions(address),
    max: address.connections,
    connectionTimeoutMillis: (timeouts?.connect ?? DEFAULT_CONNECT_SECONDS) * 1000,
    application_name: 'project-review-service',
    // Statements are sent without waiting for the results of earlier ones.
    pipeline: true,
    onConnect: (client) => configureSession(client, timeouts),
    types: {
      getTypeParser: (type, format) => (type === BIGINT ? Number : pg.types.getTypeParser(type, format)),
    },
  });
  // The pool replaces lost connections. It listens to errors of idle connections only; an error of an active one without
  // a listener would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', onError);
    saveRoundTrips(client);
  });
  const probe = openProbe(address);
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  return {
    address,
    dialect: 'postgres',
    db,
    pool,
    isReachable: probe.isReachable,
    async [Symbol.asyncDispose]() {
      await probe.end();
      await db.destroy();
    },
  };
}

function connectionOptions({ url, timeouts }: PostgresAddress): pg.PoolConfig {
  return {
    connectionString: url,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_SECONDS * 1000,
    ...(timeouts && { stream: () => socketWithTimeout(timeouts.statement + SILENCE_BEYOND_STATEMENT_SECONDS) }),
  };
}

/** Detects a lost host. Keepalive needs minutes for it, and does not work while a query is unacknowledged. */
function socketWithTimeout(seconds: number): Socket {
  const socket = new Socket();
  return socket.setTimeout(seconds * 1000, () => {
    const silent = new Error(`Postgres has not answered for ${seconds} seconds.`);
    socket.destroy(Object.assign(silent, { code: 'ETIMEDOUT' }));
  });
}

async function configureSession(client: pg.ClientBase, timeouts: DatabaseTimeouts | undefined): Promise<void> {
  if (timeouts !== undefined) {
    await client.query(
      `set statement_timeout = '${timeouts.statement}s'; set lock_timeout = '${timeouts.lock}s';
       set idle_in_transaction_session_timeout = '${timeouts.idleTransaction}s'`,
    );
  }
  // Optional: they end the session of a lost client sooner. Some platforms and poolers do not support them.
  await client
    .query(
      `set tcp_keepalives_idle = ${KEEPALIVE_SECONDS}; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3;
       set tcp_user_timeout = '20s'`,
    )
    .catch(() => {});
}

const NO_ROWS = { command: '', rowCount: 0, rows: [] };

nameStatement('begin');
nameStatement('commit');

type NamedStatement = Required<Pick<pg.QueryConfig<unknown[]>, 'name' | 'text' | 'values'>>;

/**
 * Named statements with one Sync, so that Postgres answers them by one write, and skips those after one that fails. The result
 * is that of the last.
 */
class Together extends pg.Query {
  /** The benchmark counts them. */
  readonly statements: readonly NamedStatement[];

  readonly #remaining: NamedStatement[];

  constructor(statements: readonly NamedStatement[], settle: PromiseWithResolvers<unknown>) {
    super('', (error, results) => {
      if (error) settle.reject(error);
      else settle.resolve(Array.isArray(results) ? results.at(-1) : results);
    });
    this.statements = statements;
    this.#remaining = [...statements];
    this.#expectNext();
  }

  #expectNext(): void {
    const next = this.#remaining.shift();
    if (next !== undefined) ({ name: this.name, text: this.text } = next);
  }

  override handleCommandComplete(message: unknown, connection: pg.Connection): void {
    super.handleCommandComplete(message, connection);
    this.#expectNext();
  }

  override handleError(error: Error, connection: pg.Connection): void {
    // Postgres has not prepared those that it skipped.
    for (const { name } of this.#remaining) delete connection.submittedNamedStatements[name];
    super.handleError(error, connection);
  }

  override submit = (connection: pg.Connection): void => {
    const unsynced: pg.Connection = Object.create(connection, { sync: { value: () => {} } });
    connection.stream.cork();
    try {
      for (const statement of this.statements) new pg.Query(statement).submit(unsynced);
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  };
}

/**
 * Lets Postgres parse and plan each prepared statement once per connection. Sends BEGIN together with the first statement of a
 * transaction, and statements whose result is not read together with the one after them, which saves round trips.
 */
function saveRoundTrips(client: pg.PoolClient): void {
  let names = 0;
  let isInTransaction = false;
  let waiting: NamedStatement[] = [];

  client.query = new Proxy(client.query, {
    apply(query, self, args: unknown[]) {
      const send = (...given: unknown[]): Promise<unknown> => Reflect.apply(query, self, given);
      const renameOutdated = (error: unknown): never => {
        // A migration has changed a table since the statement was prepared: prepare it again under another name.
        if (isOutdatedPlan(error)) names++;
        throw error;
      };
      const sendNamed = (statement: NamedStatement): Promise<unknown> => send(statement).catch(renameOutdated);
      const sendTogether = (statements: readonly NamedStatement[]): Promise<unknown> => {
        waiting = [];
        const settled = Promise.withResolvers<unknown>();
        send(new Together(statements, settled));
        return settled.promise.catch(renameOutdated);
      };
      const [text, values] = args;
      if (typeof text !== 'string' || !Array.isArray(values) || args.length !== 2) return send(...args);
      if (text === 'rollback') {
        const isBegun = waiting[0]?.text !== 'begin';
        waiting = [];
        isInTransaction = false;
        return isBegun ? send(...args) : Promise.resolve(NO_ROWS);
      }
      const name = statementName(text);
      if (name === undefined) {
        return waiting.length === 0 ? send(...args) : lastOf([sendTogether(waiting), send(...args)]);
      }
      const statement = () => ({ name: `${name}-${names}`, text, values });
      if (text === 'begin') {
        isInTransaction = true;
        waiting = [];
      }
      if (text === 'begin' || (isInTransaction && text.startsWith(RESULT_UNREAD))) {
        waiting.push(statement());
        return Promise.resolve(NO_ROWS);
      }
      if (text === 'commit') isInTransaction = false;
      if (waiting.length > 0) return sendTogether([...waiting, statement()]);
      return sendNamed(statement()).catch((error: unknown) => {
        if (!isOutdatedPlan(error)) throw error;
        return sendNamed(statement()).catch(() => {
          // The error has aborted a transaction, which `inTransaction` repeats.
          throw error;
        });
      });
    },
  });
}

/** Returns the result of the last one. Throws the first error: the later ones follow from it. */
async function lastOf(results: Promise<unknown>[]): Promise<unknown> {
  for (const settled of await Promise.allSettled(results)) if (settled.status === 'rejected') throw settled.reason;
  return results.at(-1);
}

/** Opens a separate connection for health checks, so that an exhausted pool does not look like an unreachable database. */
function openProbe(address: PostgresAddress) {
  const pool = new pg.Pool({
    ...connectionOptions(address),
    max: 1,
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
    application_name: 'project-review-service probe',
  });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return {
    isReachable: () =>
      pool.query('select 1').then(
        () => true,
        () => false,
      ),
    end: async () => {
      if (!pool.ending) await pool.end();
    },
  };
}
