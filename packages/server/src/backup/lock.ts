import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';

const RETRY_MS = 250;

/**
 * Locks the folder for a backup or a restore, of which several may run at once, and waits while it is pruned. The lock is
 * one of SQLite, because the system releases it when its process ends, also by a crash.
 */
export async function lockForUse(folder: string): Promise<Disposable> {
  for (;;) {
    try {
      const lock = takeLock(folder, 'begin; select count(*) from sqlite_schema');
      if (lock !== null) return lock;
    } catch (error) {
      // A backup on a read-only disk can be restored, and nothing can prune it.
      if (hasCode(error, 'SQLITE_CANTOPEN') || !existsSync(folder)) return { [Symbol.dispose]() {} };
      throw error;
    }
    await sleep(RETRY_MS);
  }
}

/** Returns null while a backup or a restore is running. */
export const lockForPruning = (folder: string): Disposable | null => takeLock(folder, 'begin exclusive');

function takeLock(folder: string, statements: string): Disposable | null {
  const lock = new SqliteDatabase(join(folder, 'lock'), { timeout: 0 });
  try {
    lock.exec(statements);
    return { [Symbol.dispose]: () => void lock.close() };
  } catch (error) {
    lock.close();
    if (hasCode(error, 'SQLITE_BUSY')) return null;
    throw error;
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof SqliteDatabase.SqliteError && error.code === code;
