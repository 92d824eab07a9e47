import type { Kysely } from 'kysely';
import type { KeptConnections } from './kept-connections.ts';
import type { Schema } from './schema.ts';

/** Timeouts of Postgres in seconds. */
export interface DatabaseTimeouts {
  connect: number;
  statement: number;
  lock: number;
  /** The maximum idle time of a transaction. The locks of a lost client are released after it. */
  idleTransaction: number;
}

export interface PostgresAddress {
  dialect: 'postgres';
  url: string;
  connections: number;
  /** If missing, statements and locks have no timeout. */
  timeouts?: DatabaseTimeouts;
}

export type DatabaseAddress = { dialect: 'sqlite'; path: string } | PostgresAddress;

export interface OpenDatabase extends AsyncDisposable {
  address: DatabaseAddress;
  dialect: 'sqlite' | 'postgres';
  db: Kysely<Schema>;
  /** Null on SQLite. */
  pool: KeptConnections | null;
  /** Whether the database answers. Postgres is asked outside of the pool. */
  isReachable(): Promise<boolean>;
}
