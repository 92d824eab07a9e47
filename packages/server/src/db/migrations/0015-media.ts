import { type Kysely, sql } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    const text = textType(dialect);
    await db.schema
      .createTable('media')
      .addColumn('file_id', text, (id) => id.primaryKey().references('files.id').onDelete('cascade'))
      .addColumn('project_id', text, (id) => id.notNull())
      .addColumn('kind', text, (kind) => kind.notNull())
      .addColumn('status', text, (status) => status.notNull())
      .addColumn('error', text)
      .addColumn('facts', text)
      .addColumn('duration_ms', 'integer')
      .addColumn('short_side', 'integer')
      .addColumn('thumbnail_key', text)
      .addColumn('build', 'integer', (build) => build.notNull())
      .addColumn('attempts', 'integer', (attempts) => attempts.notNull())
      .addColumn('epoch', 'integer', (epoch) => epoch.notNull())
      .addColumn('due_at', text)
      .addColumn('created_at', text, (at) => at.notNull())
      .execute();
    await db.schema
      .createIndex('media_due')
      .on('media')
      .columns(['due_at', 'file_id'])
      .where(sql.ref('due_at'), 'is not', null)
      .execute();
    await db.schema
      .createIndex('media_pictures')
      .on('media')
      .columns(['project_id', 'created_at'])
      .where(sql.ref('thumbnail_key'), 'is not', null)
      .execute();
    await db.schema
      .createTable('renditions')
      .addColumn('file_id', text, (id) => id.notNull().references('media.file_id').onDelete('cascade'))
      .addColumn('kind', text, (kind) => kind.notNull())
      .addColumn('variant', 'integer', (variant) => variant.notNull())
      .addColumn('build', 'integer', (build) => build.notNull())
      .addColumn('storage_key', text, (key) => key.notNull().unique())
      .addColumn('mime_type', text, (type) => type.notNull())
      .addColumn('width', 'integer')
      .addColumn('height', 'integer')
      .addColumn('size', 'bigint', (size) => size.notNull())
      .addColumn('filmstrip', text)
      .addPrimaryKeyConstraint('renditions_of_file', ['file_id', 'kind', 'variant'])
      .execute();
  },
});
