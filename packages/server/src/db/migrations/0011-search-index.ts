import { type Kysely, sql } from 'kysely';
import type { MigrationFor } from './migration.ts';

/**
 * Indexes the trigrams of `folded_text`. Two filler characters follow the text, so that a trigram starts at each of its
 * characters, and a keyword of one or two characters is the prefix of a trigram.
 */
export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    if (dialect === 'postgres') await createFunction(db);
    for (const table of ['projects', 'files']) await indexText(db, dialect, { table, key: 'id' });
  },
});

interface Indexed {
  table: string;
  /** The column of the primary key. */
  key: string;
}

/** Indexes the `folded_text` of a table. */
export const indexText = (db: Kysely<unknown>, dialect: 'sqlite' | 'postgres', indexed: Indexed): Promise<void> =>
  dialect === 'sqlite' ? indexOnSqlite(db, indexed) : indexOnPostgres(db, indexed);

async function indexOnSqlite(db: Kysely<unknown>, { table: name, key: keyName }: Indexed): Promise<void> {
  const [table, rows, search] = [sql.table(name), sql.table(`${name}_search_rows`), sql.table(`${name}_search`)];
  const key = sql.ref(keyName);
  const trigger = (event: string) => sql.id(`${name}_search_${event}`);
  // A restored dump may renumber the implicit row ids of a table without an integer key.
  await sql`create table ${rows} (number integer primary key, id text not null unique)`.execute(db);
  await sql`create virtual table ${search} using
    fts5(text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1')`.execute(db);
  await sql`create virtual table ${sql.table(`${name}_search_terms`)} using fts5vocab(${search}, instance)`.execute(db);
  await sql`insert into ${rows} (id) select ${key} from ${table}`.execute(db);
  await sql`insert into ${search} (rowid, text)
    select number, folded_text || char(1, 1) from ${rows} join ${table} on ${table}.${key} = ${rows}.id`.execute(db);

  const number = sql`(select number from ${rows} where id = old.${key})`;
  await sql`create trigger ${trigger('insert')} after insert on ${table} begin
    insert into ${rows} (id) values (new.${key});
    insert into ${search} (rowid, text) values (last_insert_rowid(), new.folded_text || char(1, 1));
  end`.execute(db);
  await sql`create trigger ${trigger('update')} after update of folded_text on ${table}
    when new.folded_text <> old.folded_text begin
    update ${search} set text = new.folded_text || char(1, 1) where rowid = ${number};
  end`.execute(db);
  await sql`create trigger ${trigger('delete')} after delete on ${table} begin
    delete from ${search} where rowid = ${number};
    delete from ${rows} where id = old.${key};
  end`.execute(db);
}

async function createFunction(db: Kysely<unknown>): Promise<void> {
  // The cost keeps the planner from calling the function for each row of a table instead of using the index.
  await sql`create function search_trigrams(folded text) returns tsvector
    language plpgsql immutable strict parallel safe cost 10000 as $$
    declare
      trigrams text[] := '{}';
      first text;
      second text := '';
      third text;
    begin
      foreach third in array string_to_array(folded || chr(1) || chr(1), null) loop
        if first <> '' then
          trigrams := trigrams || (first || second || third);
        end if;
        first := second;
        second := third;
      end loop;
      return array_to_tsvector(trigrams);
    end $$`.execute(db);
}

/** A search also reads the entries that are not yet sorted into the index, so their number is bounded. */
async function indexOnPostgres(db: Kysely<unknown>, { table: name }: Indexed): Promise<void> {
  await sql`create index ${sql.id(`${name}_search`)} on ${sql.table(name)}
    using gin (search_trigrams(folded_text)) with (gin_pending_list_limit = 256)`.execute(db);
}
