import { type Kysely, sql } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

/** The database makes the column, so that the files of older servers have it too. */
export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    const name =
      dialect === 'sqlite'
        ? sql`(substr(folded_text, 1, instr(folded_text, char(10)) - 1)) virtual`
        : sql`(split_part(folded_text, chr(10), 1)) stored`;
    await sql`alter table files add column folded_name ${textType(dialect)} generated always as ${name}`.execute(db);
    for (const scope of ['project_id', 'folder_id'])
      await db.schema
        .createIndex(`files_${scope}_folded_name_id`)
        .on('files')
        .columns([scope, 'folded_name', 'id'])
        .execute();
  },
});
