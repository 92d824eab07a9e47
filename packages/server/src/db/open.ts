import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { Kysely, SqliteAdapter, SqliteDialect, sql } from 'kysely';
import type { DatabaseAddress, OpenDatabase } from './database.ts';
import { openPostgres } from './postgres.ts';
import type { Database, Schema } from './schema.ts';

export function openDatabase(address: DatabaseAddress, onError: (error: Error) => void): OpenDatabase {
  return address.dialect === 'sqlite' ? openSqlite(address) : openPostgres(address, onError);
}

function openSqlite(address: { dialect: 'sqlite'; path: string }): OpenDatabase {
  const { path } = address;
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
  const isReachable = () =>
    sql`select 1`.execute(db).then(
      () => true,
      () => false,
    );
  return { address, dialect: 'sqlite', db, pool: null, isReachable, [Symbol.asyncDispose]: () => db.destroy() };
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

/**
 * Runs work whose statements may rightly take long, such as migrations, without timeouts; on Postgres by a connection
 * of its own.
 */
export async function withoutTimeouts<T>(opened: OpenDatabase, work: (db: Database) => Promise<T>): Promise<T> {
  const { address } = opened;
  if (address.dialect === 'sqlite') return work(opened.db);
  const { timeouts: _, ...unlimited } = address;
  await using own = openPostgres({ ...unlimited, connections: 1 }, () => {});
  return await work(own.db);
}
