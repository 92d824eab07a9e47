import SqliteDatabase from 'better-sqlite3';

/** The maximum that the backup function accepts. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * Copies a SQLite database while it is in use, as of one moment. All pages are copied in one step: with several steps, a write
 * of the server between two of them would start the copy again.
 */
export async function copySqlite(from: string, to: string): Promise<void> {
  const source = new SqliteDatabase(from, { fileMustExist: true, timeout: 10_000 });
  try {
    await source.backup(to, { progress: () => ALL_PAGES });
  } finally {
    source.close();
  }
}

/** Makes the copy a single file, without a write-ahead log, and throws if it is damaged. */
export function sealSqlite(path: string): void {
  const copy = new SqliteDatabase(path, { fileMustExist: true });
  try {
    copy.pragma('journal_mode = DELETE');
    const result = copy.pragma('integrity_check', { simple: true });
    if (result !== 'ok') throw new Error(`The copy of the database is damaged: ${result}`);
  } finally {
    copy.close();
  }
}
