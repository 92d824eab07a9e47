import { type Kysely, sql } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    const text = textType(dialect);
    await db.schema
      .createTable('webhooks')
      .addColumn('id', text, (id) => id.primaryKey())
      .addColumn('project_id', text, (id) => id.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('url', text, (url) => url.notNull())
      .addColumn('types', text)
      .addColumn('description', text)
      .addColumn('scopes', text, (scopes) => scopes.notNull())
      .addColumn('active', 'integer', (active) => active.notNull())
      .addColumn('disabled_reason', text)
      .addColumn('sealed_secret', text, (secret) => secret.notNull())
      .addColumn('sealed_previous_secret', text)
      .addColumn('previous_secret_until', text)
      .addColumn('last_sequence', 'bigint', (last) => last.notNull())
      .addColumn('epoch', 'integer', (epoch) => epoch.notNull())
      .addColumn('lease_until', text)
      .addColumn('next_attempt_at', text)
      .addColumn('failing_since', text)
      .addColumn('last_failure', text)
      .addColumn('created_at', text, (at) => at.notNull())
      .execute();
    await db.schema.createIndex('webhooks_project').on('webhooks').columns(['project_id', 'created_at']).execute();
    await db.schema
      .createIndex('webhooks_active')
      .on('webhooks')
      .column('project_id')
      .where(sql.ref('active'), '=', sql.lit(1))
      .execute();
    await db.schema
      .createTable('webhook_deliveries')
      .addColumn('id', text, (id) => id.primaryKey())
      .addColumn('webhook_id', text, (id) => id.notNull().references('webhooks.id').onDelete('cascade'))
      .addColumn('project_id', text, (id) => id.notNull())
      .addColumn('sequence', 'bigint', (sequence) => sequence.notNull())
      .addColumn('subject_id', text, (id) => id.notNull())
      .addColumn('status', text, (status) => status.notNull())
      .addColumn('attempts', 'integer', (attempts) => attempts.notNull())
      .addColumn('next_attempt_at', text)
      .addColumn('attempted_at', text)
      .addColumn('response_status', 'integer')
      .addColumn('response_excerpt', text)
      .addColumn('error', text)
      .addColumn('created_at', text, (at) => at.notNull())
      .addUniqueConstraint('webhook_deliveries_event', ['webhook_id', 'sequence'])
      // The sweep of an event deletes its deliveries, which have no content without it.
      .addForeignKeyConstraint(
        'webhook_deliveries_events',
        ['project_id', 'sequence'],
        'events',
        ['project_id', 'sequence'],
        (key) => key.onDelete('cascade'),
      )
      .execute();
    const index = (name: string, ...columns: string[]) =>
      db.schema.createIndex(`webhook_deliveries_${name}`).on('webhook_deliveries').columns(columns);
    await index('swept', 'project_id', 'sequence').execute();
    await index('listed', 'webhook_id', 'created_at', 'id').execute();
    await index('by_status', 'webhook_id', 'status', 'created_at', 'id').execute();
    await index('due', 'webhook_id', 'next_attempt_at', 'sequence')
      .where(sql.ref('next_attempt_at'), 'is not', null)
      .execute();
    await index('of_subject', 'webhook_id', 'subject_id', 'sequence')
      .where(sql.ref('status'), '=', sql.lit('PENDING'))
      .execute();
  },
});
