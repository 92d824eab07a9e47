import { Socket } from 'node:net';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { DatabaseTimeouts, OpenDatabase, PostgresAddress } from './database.ts';
import type { Schema } from './schema.ts';

const BIGINT = 20;
const DEFAULT_CONNECT_SECONDS = 5;
const KEEPALIVE_SECONDS = 10;
/** Postgres answers a statement within its timeout; a connection that is silent this much longer is dead. */
const SILENCE_BEYOND_STATEMENT_SECONDS = 5;
const PROBE_MS = 900;

export function openPostgres(address: PostgresAddress, onError: (error: Error) => void): OpenDatabase {
  const { timeouts } = address;
  const pool = new pg.Pool({
    ...connectionOptions(address),
    max: address.connections,
    connectionTimeoutMillis: (timeouts?.connect ?? DEFAULT_CONNECT_SECONDS) * 1000,
    application_name: 'project-review-service',
    onConnect: (client) => configureSession(client, timeouts),
    types: {
      getTypeParser: (type, format) => (type === BIGINT ? Number : pg.types.getTypeParser(type, format)),
    },
  });
  // A connection that breaks is replaced. Without a listener it would end the process: the pool listens to idle
  // connections only, so those at work need a listener of their own.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', onError));
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

/** Keepalive alone notices a lost host only after minutes, and not while a query is unacknowledged. */
function socketWithTimeout(seconds: number): Socket {
  const socket = new Socket();
  return socket.setTimeout(seconds * 1000, () => {
    const silent = new Error(`Postgres has been silent for ${seconds} seconds`);
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
  // A platform or a pooler that does not know these still works: they only free a lost client's session sooner.
  await client
    .query(
      `set tcp_keepalives_idle = ${KEEPALIVE_SECONDS}; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3;
       set tcp_user_timeout = '20s'`,
    )
    .catch(() => {});
}

/** A connection of its own, so that a pool in full use does not look like a database that is away. */
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
