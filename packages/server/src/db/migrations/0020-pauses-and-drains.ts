import type { Kysely } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

/** Older servers ignore both: during an upgrade they still start generations of a paused family, and let draining workers claim. */
export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    const text = textType(dialect);
    await db.schema
      .createTable('paused_families')
      .addColumn('family', text, (family) => family.primaryKey())
      .addColumn('reason', text)
      .addColumn('paused_at', text, (at) => at.notNull())
      .execute();
    await db.schema.alterTable('workers').addColumn('draining_since', text).execute();
  },
});
