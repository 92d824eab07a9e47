import type { Kysely } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    // The worker's id of the record. Steps of older servers have none.
    await db.schema.alterTable('generation_steps').addColumn('record_id', textType(dialect)).execute();
    await db.schema
      .createIndex('generation_steps_record')
      .on('generation_steps')
      .columns(['file_id', 'record_id'])
      .unique()
      .execute();
  },
});
