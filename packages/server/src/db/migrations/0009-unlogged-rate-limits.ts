import { type Kysely, sql } from 'kysely';
import type { MigrationFor } from './migration.ts';

export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    // Every request counts here. Without the write-ahead log no request waits for a flush; a crash of Postgres empties the table.
    if (dialect === 'postgres') await sql`alter table rate_limits set unlogged`.execute(db);
  },
});
