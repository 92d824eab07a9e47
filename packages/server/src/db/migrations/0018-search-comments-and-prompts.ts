import { type Kysely, sql } from 'kysely';
import { fold } from '../fold.ts';
import { indexText } from './0011-search-index.ts';
import { type MigrationFor, textType } from './migration.ts';

const SOURCES = [
  { table: 'comments', key: 'id', text: 'content' },
  { table: 'generations', key: 'file_id', text: 'prompt' },
] as const;

/** Older servers leave the text of new comments and prompts empty, so that a search does not find those. */
export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    for (const source of SOURCES) {
      await db.schema
        .alterTable(source.table)
        .addColumn('folded_text', textType(dialect), (text) => text.notNull().defaultTo(''))
        .execute();
      await foldStored(db, source);
      await indexText(db, dialect, source);
    }
  },
});

interface Source {
  table: string;
  key: string;
  text: string;
}

async function foldStored(db: Kysely<unknown>, source: Source): Promise<void> {
  const [table, key, text] = [sql.table(source.table), sql.ref(source.key), sql.ref(source.text)];
  for (let last = ''; ; ) {
    const { rows } = await sql<{ id: string; text: string }>`select ${key} as id, ${text} as text from ${table}
      where ${key} > ${last} and ${text} is not null order by ${key} limit 1000`.execute(db);
    for (const row of rows)
      await sql`update ${table} set folded_text = ${fold(row.text)} where ${key} = ${row.id}`.execute(db);
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end.id;
  }
}
