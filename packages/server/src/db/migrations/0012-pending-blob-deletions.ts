import { type Kysely, sql } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

/**
 * Renames `doomed_blobs`. Older servers still write to the former table, so it stays, and a trigger copies their rows. A
 * later release can drop it.
 */
export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    const text = textType(dialect);
    await db.schema
      .createTable('pending_blob_deletions')
      .addColumn('storage_key', text, (key) => key.primaryKey())
      .addColumn('storage_upload', text)
      .addColumn('scheduled_at', text, (at) => at.notNull())
      .execute();
    const copyRow = sql`insert into pending_blob_deletions (storage_key, storage_upload, scheduled_at)
      values (new.storage_key, new.storage_upload, new.doomed_at) on conflict (storage_key) do nothing`;
    if (dialect === 'postgres') {
      await sql`create function copy_doomed_blob() returns trigger language plpgsql as
        $$ begin ${copyRow}; return null; end $$`.execute(db);
      await sql`create trigger copy_doomed_blob after insert on doomed_blobs
        for each row execute function copy_doomed_blob()`.execute(db);
    } else {
      await sql`create trigger copy_doomed_blob after insert on doomed_blobs begin ${copyRow}; end`.execute(db);
    }
    await sql`insert into pending_blob_deletions (storage_key, storage_upload, scheduled_at)
      select storage_key, storage_upload, doomed_at from doomed_blobs`.execute(db);
  },
});
