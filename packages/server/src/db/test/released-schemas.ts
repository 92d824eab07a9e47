import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import type { Dialect } from '../../test/house.ts';
import { migrationsFor } from '../migrate.ts';
import type { Database } from '../schema.ts';

interface Statement {
  sql: string;
  parameters?: readonly unknown[];
}

type Row = Record<string, unknown>;

/** The schema of a release, independent of the code of its migrations, with the rows of its demo. */
export interface ReleasedSchema {
  release: string;
  /** The statements of each migration, in order. */
  statements: Record<Dialect, Record<string, Statement[]>>;
  /** In the order in which they can be inserted. Both databases store the same values. */
  rows: Record<string, Row[]>;
}

export const isRecording = process.env['RECORD_RELEASE'] === '1';

const FOLDER = new URL('../released/', import.meta.url);

export const listReleased = (): ReleasedSchema[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')));

export function storeReleased(schema: ReleasedSchema): void {
  writeFileSync(new URL(`${schema.release}.json`, FOLDER), `${JSON.stringify(schema, null, 2)}\n`);
}

/** Returns the statements of all migrations, which need no database for it. */
export async function recordStatements(dialect: Dialect): Promise<Record<string, Statement[]>> {
  const recorded: Record<string, Statement[]> = {};
  let statements: Statement[] = [];
  const db = new Kysely<unknown>({
    dialect: DIALECTS_WITHOUT_DATABASE[dialect],
    log({ query: { sql: text, parameters } }) {
      // Migrations read rows in order to convert them. Here there are none.
      if (!/^\s*select\b/i.test(text)) statements.push({ sql: text, ...(parameters.length > 0 && { parameters }) });
    },
  });
  for (const [name, { up }] of Object.entries(migrationsFor(dialect))) {
    statements = [];
    await up(db);
    recorded[name] = statements;
  }
  await db.destroy();
  return recorded;
}

const createDriver = () => new DummyDriver();
const DIALECTS_WITHOUT_DATABASE = {
  sqlite: {
    createAdapter: () => new SqliteAdapter(),
    createDriver,
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
  postgres: {
    createAdapter: () => new PostgresAdapter(),
    createDriver,
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
};

/** Makes an empty database what the release has left: its schema, its rows, and the list of its migrations. */
export async function installReleased(db: Database, dialect: Dialect, released: ReleasedSchema): Promise<void> {
  const name = (text: string) => sql.raw(`"${text}"`);
  await sql`create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)`.execute(db);
  for (const [migration, statements] of Object.entries(released.statements[dialect])) {
    for (const { sql: text, parameters = [] } of statements) {
      await db.executeQuery({
        sql: text,
        parameters,
        query: sql`${sql.raw(text)}`.toOperationNode(),
        queryId: { queryId: migration },
      });
    }
    await sql`insert into kysely_migration (name, timestamp) values (${migration}, '2026')`.execute(db);
  }
  const views = (await db.introspection.getTables()).filter(({ isView }) => isView).map((view) => view.name);
  for (const [table, rows] of Object.entries(released.rows)) {
    if (views.includes(table)) continue;
    for (const row of rows) {
      const columns = sql.join(Object.keys(row).map(name));
      await sql`insert into ${name(table)} (${columns}) values (${sql.join(Object.values(row))})`.execute(db);
    }
  }
}

/** Written by migrations or triggers, or of one database only. */
const NOT_RECORDED =
  /^(kysely_.*|sqlite_.*|generation_gate|schema_compatibility|event_floors|rate_limits|idempotency_keys|.*_search.*)$/;

/** Returns all rows of a SQLite database, each table after those that it refers to, with views that are tables on Postgres. */
export async function readRows(db: Database): Promise<ReleasedSchema['rows']> {
  const { rows: tables } = await sql<{
    name: string;
  }>`select name from sqlite_master where type in ('table', 'view')`.execute(db);
  const rows: ReleasedSchema['rows'] = {};
  for (const { name } of tables.filter((table) => !NOT_RECORDED.test(table.name))) {
    const found = await sql<Row>`select * from ${sql.raw(`"${name}"`)}`.execute(db);
    if (found.rows.length > 0) rows[name] = found.rows;
  }
  return rows;
}

/** Returns the definitions of all tables, indexes and triggers, as text that can be compared. */
export async function describeSchema(db: Database, dialect: Dialect): Promise<string[]> {
  const { rows } = await (dialect === 'sqlite' ? SQLITE_SCHEMA : POSTGRES_SCHEMA).execute(db);
  return rows.map((row) => JSON.stringify(row)).toSorted();
}

const SQLITE_SCHEMA = sql<Row>`select type, name, tbl_name, sql from sqlite_master
  where name not like 'sqlite_%' and name not like '%kysely_%' and tbl_name not like 'kysely_%'`;

const POSTGRES_SCHEMA = sql<Row>`
  select 'column' as type, table_name as place, column_name as name,
    concat_ws(' ', data_type, collation_name, is_nullable, column_default) as definition
    from information_schema.columns where table_schema = 'public' and table_name not like 'kysely_%'
  union all
  select 'index', tablename, indexname, indexdef from pg_indexes
    where schemaname = 'public' and tablename not like 'kysely_%'
  union all
  select 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint
    where connamespace = 'public'::regnamespace and conrelid::regclass::text not like 'kysely_%'
  union all
  select 'trigger', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal`;
