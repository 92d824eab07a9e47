import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { Kysely, PostgresDialect, SqliteAdapter, SqliteDialect, sql } from 'kysely';
import pg from 'pg';
import type { Schema } from './schema.ts';

export type DatabaseAddress =
  | { dialect: 'sqlite'; path: string }
  | { dialect: 'postgres'; url: string; connections: number };

export interface OpenDatabase extends AsyncDisposable {
  dialect: 'sqlite' | 'postgres';
  db: Kysely<Schema>;
  /** The connections that the rate limiter shares; null on SQLite. */
  pool: pg.Pool | null;
}

export function openDatabase(address: DatabaseAddress, onError: (error: Error) => void): OpenDatabase {
  return address.dialect === 'sqlite' ? openSqlite(address.path) : openPostgres(address, onError);
}

function openSqlite(path: string): OpenDatabase {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
  const file = new SqliteDatabase(path, { timeout: 10_000 });
  file.pragma('journal_mode = WAL');
  // An acknowledged write survives a power cut, not only a crash.
  file.pragma('synchronous = FULL');
  file.pragma('foreign_keys = ON');

  // Kysely prepares anew on each call, which costs more than most of our queries.
  const prepared = new Map<string, SqliteDatabase.Statement>();
  const prepare = (text: string) => {
    // A transaction here always writes: taking the lock at once waits for it, taking it later may fail.
    const statement = prepared.get(text) ?? file.prepare(text === 'begin' ? 'begin immediate' : text);
    if (prepared.size > 1000) prepared.clear();
    prepared.set(text, statement);
    return statement;
  };
  const dialect = new TransactionalSqliteDialect({ database: { close: () => void file.close(), prepare } });
  const db = new Kysely<Schema>({ dialect });
  return { dialect: 'sqlite', db, pool: null, [Symbol.asyncDispose]: () => db.destroy() };
}

/** SQLite undoes a failed migration like any other work; Kysely assumes that it cannot. */
class TransactionalSqliteDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new (class extends SqliteAdapter {
      override get supportsTransactionalDdl(): boolean {
        return true;
      }
    })();
  }
}

const BIGINT = 20;

function openPostgres(address: { url: string; connections: number }, onError: (error: Error) => void): OpenDatabase {
  const pool = new pg.Pool({
    connectionString: address.url,
    max: address.connections,
    connectionTimeoutMillis: 5_000,
    application_name: 'project-review-service',
    types: {
      getTypeParser: (type, format) => (type === BIGINT ? Number : pg.types.getTypeParser(type, format)),
    },
  });
  // A connection that breaks is replaced. Without a listener it would end the process: the pool listens to idle
  // connections only, so those at work need a listener of their own.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', onError));
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  return { dialect: 'postgres', db, pool, [Symbol.asyncDispose]: () => db.destroy() };
}

export const isReachable = async (db: Kysely<Schema>): Promise<boolean> => {
  try {
    await sql`select 1`.execute(db);
    return true;
  } catch {
    return false;
  }
};
