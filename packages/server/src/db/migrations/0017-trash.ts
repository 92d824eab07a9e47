import { type Kysely, sql } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

/** Older servers ignore the column: they show files in the trash, and delete them for good. */
export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('files').addColumn('trashed_at', textType(dialect)).execute();
    await db.schema
      .createIndex('files_trash_of_project')
      .on('files')
      .columns(['project_id', 'trashed_at', 'id'])
      .where(sql.ref('trashed_at'), 'is not', null)
      .execute();
    await db.schema
      .createIndex('files_trash')
      .on('files')
      .columns(['trashed_at', 'id'])
      .where(sql.ref('trashed_at'), 'is not', null)
      .execute();
  },
});
