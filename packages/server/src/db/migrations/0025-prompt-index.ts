import { type Kysely, sql } from 'kysely';
import type { MigrationFor } from './migration.ts';

/**
 * On Postgres, a prompt enters the index of the search when its generation ends. With each change of an indexed row, Postgres computes
 * its trigrams anew, and a generation changes several times before its end. Until they are upgraded, older servers search
 * prompts without an index.
 */
export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    if (dialect === 'sqlite') return;
    await sql`drop index generations_search`.execute(db);
    await sql`create index generations_search on generations using gin (search_trigrams(folded_text))
      with (gin_pending_list_limit = 256) where status not in ('QUEUED', 'RUNNING')`.execute(db);
  },
});
