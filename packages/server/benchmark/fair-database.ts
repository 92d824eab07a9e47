import Sqlite from 'better-sqlite3';
import pg from 'pg';

/** A list is bound as one parameter, in place of `any(?)`. */
type Value = string | number | null | readonly string[];
export type Query<Row> = (...values: Value[]) => Row[] | Promise<Row[]>;
/** Takes the values of each statement. */
type Write = (...values: Value[][]) => void | Promise<void>;

/** The database drivers with statements that are prepared once. */
export interface FairDatabase {
  prepare<Row>(name: string, text: string): Query<Row>;
  /** Prepares statements that run in one transaction. */
  prepareWrite(name: string, texts: string[]): Write;
  /** Whether a statement may insert rows in a common table expression. */
  insertsInWith: boolean;
}

export const openFairDatabase = (url: string): FairDatabase =>
  url.startsWith('sqlite:') ? openSqlite(url.slice('sqlite:'.length)) : openPostgres(url);

/** Has the settings of the server in `src/db/open.ts`. */
function openSqlite(path: string): FairDatabase {
  const file = new Sqlite(path, { timeout: 10_000 });
  file.pragma('journal_mode = WAL');
  file.pragma('synchronous = FULL');
  file.pragma('foreign_keys = ON');
  const bind = (values: Value[]) =>
    values.map((value) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value));
  const [begin, commit, rollback] = [file.prepare('begin immediate'), file.prepare('commit'), file.prepare('rollback')];
  return {
    prepare<Row>(_name: string, text: string): Query<Row> {
      const statement = file.prepare<(string | number | null)[], Row>(
        text.replaceAll('= any(?)', 'in (select value from json_each(?))'),
      );
      return (...values) => statement.all(...bind(values));
    },
    insertsInWith: false,
    prepareWrite(_name, texts) {
      const statements = texts.map((text) => file.prepare<(string | number | null)[]>(text));
      return (...values) => {
        begin.run();
        try {
          for (const [index, statement] of statements.entries()) statement.run(...bind(values[index] ?? []));
          commit.run();
        } catch (error) {
          rollback.run();
          throw error;
        }
      };
    },
  };
}

/** Has the pool of the server in `src/db/postgres.ts`. */
function openPostgres(connectionString: string): FairDatabase {
  const BIGINT = 20;
  const pool = new pg.Pool({
    connectionString,
    max: 10,
    application_name: 'fair-server',
    types: { getTypeParser: (type, format) => (type === BIGINT ? Number : pg.types.getTypeParser(type, format)) },
  });
  pool.on('error', () => {});
  const numbered = (text: string) => {
    let position = 0;
    return text.replaceAll('?', () => `$${++position}`);
  };
  return {
    prepare<Row>(name: string, text: string): Query<Row> {
      const statement = { name, text: numbered(text) };
      return async (...values) => (await pool.query<Row & pg.QueryResultRow>({ ...statement, values })).rows;
    },
    insertsInWith: true,
    prepareWrite(name, texts) {
      const statements = texts.map((text, index) => ({ name: `${name}-${index}`, text: numbered(text) }));
      return async (...values) => {
        const client = await pool.connect();
        try {
          await client.query('begin');
          for (const [index, statement] of statements.entries())
            await client.query({ ...statement, values: values[index] ?? [] });
          await client.query('commit');
        } catch (error) {
          await client.query('rollback');
          throw error;
        } finally {
          client.release();
        }
      };
    },
  };
}
