import type { Kysely } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    const text = textType(dialect);
    await db.schema
      .createTable('oauth_subjects')
      .addColumn('issuer', text, (issuer) => issuer.notNull())
      .addColumn('subject', text, (subject) => subject.notNull())
      .addColumn('user_id', text, (id) => id.notNull().references('users.id').onDelete('cascade'))
      .addColumn('created_at', text, (at) => at.notNull())
      .addPrimaryKeyConstraint('oauth_subjects_key', ['issuer', 'subject'])
      .addUniqueConstraint('oauth_subjects_user', ['user_id', 'issuer'])
      .execute();
  },
});
