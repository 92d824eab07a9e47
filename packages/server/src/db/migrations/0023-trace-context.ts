import type { Kysely } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('generations').addColumn('traceparent', textType(dialect)).execute();
  },
});
