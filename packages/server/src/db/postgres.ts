import { Socket } from 'node:net';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { DatabaseTimeouts, OpenDatabase, PostgresAddress } from './database.ts';
import { KeptConnections } from './kept-connections.ts';
import { shareRoundTrips } from './look-ups.ts';
import { runTogether, saveRoundTrips } from './round-trips.ts';
import type { Schema } from './schema.ts';

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
  const connections = new KeptConnections(pool);
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: connections }) });
  shareRoundTrips(db, (queries) => runTogether(connections, queries));
  return {
    address,
    dialect: 'postgres',
    db,
    pool: connections,
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
  // Without a choice of the operator, Postgres plans for disks with heads, and reads small tables as a whole instead of their index.
  await client.query(
    `select set_config(name, '1.1', false) from pg_settings where name = 'random_page_cost' and source = 'default'`,
  );
  // Optional: they end the session of a lost client sooner. Some platforms and poolers do not support them.
  await client
    .query(
      `set tcp_keepalives_idle = ${KEEPALIVE_SECONDS}; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3;
       set tcp_user_timeout = '20s'`,
    )
    .catch((error: unknown) => {
      // Anything else is a lost connection.
      if (!(error instanceof pg.DatabaseError)) throw error;
    });
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
