import type { Kysely } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    const text = textType(dialect);
    await db.schema
      .createTable('member_decisions')
      .addColumn('project_id', text, (id) => id.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('user_id', text, (id) => id.notNull().references('users.id').onDelete('cascade'))
      .addColumn('decided_at', text, (at) => at.notNull())
      .addPrimaryKeyConstraint('member_decisions_key', ['project_id', 'user_id'])
      .execute();
    await db.schema.createIndex('member_decisions_user').on('member_decisions').column('user_id').execute();
  },
});
