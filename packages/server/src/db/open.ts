import { dirname } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { Kysely, SqliteAdapter, SqliteDialect, sql } from 'kysely';
import { createDirectory } from '../create-directory.ts';
import type { DatabaseAddress, OpenDatabase } from './database.ts';
import { DirectReads, readDirectly } from './direct-reads.ts';
import { openPostgres } from './postgres.ts';
import type { Database, Schema } from './schema.ts';

export function openDatabase(address: DatabaseAddress, onError: (error: Error) => void): OpenDatabase {
  return address.dialect === 'sqlite' ? openSqlite(address) : openPostgres(address, onError);
}

function openSqlite(address: { dialect: 'sqlite'; path: string }): OpenDatabase {
  const { path } = address;
  if (path !== ':memory:') createDirectory(dirname(path));
  const file = new SqliteDatabase(path, { timeout: 10_000 });
  file.pragma('journal_mode = WAL');
  // FULL makes acknowledged writes survive a power cut.
  file.pragma('synchronous = FULL');
  file.pragma('foreign_keys = ON');

  // Kysely prepares a statement on each call, which costs more than most queries.
  const prepared = new Map<string, SqliteDatabase.Statement>();
  const prepare = (text: string): SqliteDatabase.Statement<unknown[]> => {
    // All transactions write. An immediate one waits for the lock; upgrading to it later can fail.
    const statement = prepared.get(text) ?? file.prepare(text === 'begin' ? 'begin immediate' : text);
    if (prepared.size > 1000) prepared.clear();
    prepared.set(text, statement);
    return statement;
  };
  const dialect = new TransactionalSqliteDialect({ database: { close: () => void file.close(), prepare } });
  const db = new Kysely<Schema>({ dialect });
  readDirectly(db, new DirectReads(file, prepare));
  const isReachable = () =>
    sql`select 1`.execute(db).then(
      () => true,
      () => false,
    );
  return { address, dialect: 'sqlite', db, pool: null, isReachable, [Symbol.asyncDispose]: () => db.destroy() };
}

/** Enables transactional migrations, which SQLite supports and Kysely assumes it does not. */
class TransactionalSqliteDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new (class extends SqliteAdapter {
      override get supportsTransactionalDdl(): boolean {
        return true;
      }
    })();
  }
}

/** Runs long work, such as migrations, without timeouts. Uses a separate connection on Postgres. */
export async function withoutTimeouts<T>(opened: OpenDatabase, work: (db: Database) => Promise<T>): Promise<T> {
  const { address } = opened;
  if (address.dialect === 'sqlite') return work(opened.db);
  const { timeouts: _, ...unlimited } = address;
  await using own = openPostgres({ ...unlimited, connections: 1 }, () => {});
  return await work(own.db);
}
