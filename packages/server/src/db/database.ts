import type { Kysely } from 'kysely';
import type pg from 'pg';
import type { Schema } from './schema.ts';

/** How long Postgres may take before work is given up, in seconds. */
export interface DatabaseTimeouts {
  connect: number;
  statement: number;
  lock: number;
  /** How long a transaction may stay open without a statement: a client whose host is lost frees its locks after it. */
  idleTransaction: number;
}

export interface PostgresAddress {
  dialect: 'postgres';
  url: string;
  connections: number;
  /** Without, statements and locks are waited for without end. */
  timeouts?: DatabaseTimeouts;
}

export type DatabaseAddress = { dialect: 'sqlite'; path: string } | PostgresAddress;

export interface OpenDatabase extends AsyncDisposable {
  address: DatabaseAddress;
  dialect: 'sqlite' | 'postgres';
  db: Kysely<Schema>;
  /** The connections that the rate limiter shares; null on SQLite. */
  pool: pg.Pool | null;
  /** Asks the database for an answer; on Postgres past the pool. */
  isReachable(): Promise<boolean>;
}
