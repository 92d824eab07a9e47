import { type Kysely, sql } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('schema_compatibility')
      .addColumn('oldest_compatible', textType(dialect), (name) => name.notNull())
      .execute();
    await sql`insert into schema_compatibility (oldest_compatible) values ('0007-schema-compatibility')`.execute(db);
    // `review storage` looks up the row that references an object.
    await db.schema.createIndex('files_storage_key').on('files').column('storage_key').execute();
    await db.schema.createIndex('uploads_storage_key').on('uploads').column('storage_key').execute();
  },
});
