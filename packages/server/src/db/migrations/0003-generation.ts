import { type Kysely, sql } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    const text = textType(dialect);
    const open = sql<boolean>`status in ('QUEUED', 'RUNNING')`;

    await db.schema
      .createTable('generations')
      .addColumn('file_id', text, (id) => id.primaryKey().references('files.id').onDelete('cascade'))
      .addColumn('workspace_id', text, (id) => id.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('family', text, (family) => family.notNull())
      .addColumn('output_type', text, (type) => type.notNull())
      .addColumn('output_model', text, (model) => model.notNull())
      .addColumn('prompt', text, (prompt) => prompt.notNull())
      .addColumn('configs', text)
      .addColumn('status', text, (status) => status.notNull())
      .addColumn('progress', 'double precision', (progress) => progress.notNull().defaultTo(0))
      .addColumn('provider', text)
      .addColumn('provider_job_id', text)
      .addColumn('stages', text, (stages) => stages.notNull().defaultTo('{}'))
      .addColumn('warnings', text, (warnings) => warnings.notNull().defaultTo('[]'))
      .addColumn('error', text)
      .addColumn('engine', text)
      .addColumn('epoch', 'integer', (epoch) => epoch.notNull().defaultTo(0))
      .addColumn('lease_owner', text)
      .addColumn('lease_until', text)
      .addColumn('result', text)
      .addColumn('queued_at', text, (at) => at.notNull())
      .addColumn('started_at', text)
      .addColumn('deadline_at', text)
      .addColumn('finished_at', text)
      .execute();
    await db.schema
      .createIndex('generations_waiting')
      .on('generations')
      .columns(['workspace_id', 'output_type', 'queued_at'])
      .where(sql<boolean>`status = 'QUEUED' and engine is null`)
      .execute();
    await db.schema
      .createIndex('generations_held')
      .on('generations')
      .columns(['engine', 'lease_until'])
      .where(sql<boolean>`${open} and engine is not null`)
      .execute();
    await db.schema
      .createIndex('generations_deadline')
      .on('generations')
      .column('deadline_at')
      .where(sql<boolean>`status = 'RUNNING'`)
      .execute();

    await db.schema
      .createTable('generation_attachments')
      .addColumn('file_id', text, (id) => id.notNull().references('generations.file_id').onDelete('cascade'))
      .addColumn('attachment_id', text, (id) => id.notNull())
      .addColumn('position', 'integer', (position) => position.notNull())
      .addPrimaryKeyConstraint('generation_attachments_key', ['file_id', 'position'])
      .execute();
    await db.schema
      .createIndex('generation_attachments_attachment')
      .on('generation_attachments')
      .column('attachment_id')
      .execute();

    await db.schema
      .createTable('generation_steps')
      .addColumn('file_id', text, (id) => id.notNull().references('generations.file_id').onDelete('cascade'))
      .addColumn('position', 'integer', (position) => position.notNull())
      .addColumn('name', text, (name) => name.notNull())
      .addColumn('attempt', 'integer', (attempt) => attempt.notNull())
      .addColumn('outcome', text)
      .addColumn('message', text)
      .addColumn('started_at', text, (at) => at.notNull())
      .addColumn('finished_at', text)
      .addPrimaryKeyConstraint('generation_steps_key', ['file_id', 'position'])
      .execute();

    await db.schema
      .createTable('generation_gate')
      .addColumn('id', 'integer', (id) => id.primaryKey())
      .execute();
    await sql`insert into generation_gate (id) values (1)`.execute(db);
  },
});
