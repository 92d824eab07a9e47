import { type Kysely, sql } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    const text = textType(dialect);
    const table = (name: string) => db.schema.createTable(name).addColumn('id', text, (id) => id.primaryKey());
    const ofProject = (name: string) =>
      table(name).addColumn('project_id', text, (id) => id.notNull().references('projects.id').onDelete('cascade'));
    const index = (on: string, columns: string[]) =>
      db.schema
        .createIndex(`${on}_${columns.join('_')}`)
        .on(on)
        .columns(columns);

    await ofProject('files')
      .addColumn('folder_id', text, (id) => id.references('folders.id'))
      .addColumn('name', text, (name) => name.notNull())
      .addColumn('folded_text', text, (folded) => folded.notNull())
      .addColumn('description', text)
      .addColumn('mode', text, (mode) => mode.notNull())
      .addColumn('status', text, (status) => status.notNull())
      .addColumn('tag', text, (tag) => tag.notNull())
      .addColumn('output_type', text)
      .addColumn('mime_type', text)
      .addColumn('size', 'bigint')
      .addColumn('sha256', text)
      .addColumn('storage_key', text)
      .addColumn('allow_restricted', 'integer', (allow) => allow.notNull().defaultTo(0))
      .addColumn('created_by', text, (id) => id.notNull().references('users.id'))
      .addColumn('created_at', text, (at) => at.notNull())
      .addColumn('updated_at', text, (at) => at.notNull())
      .execute();
    await index('files', ['project_id', 'created_at', 'id']).execute();
    await index('files', ['folder_id', 'created_at', 'id']).execute();
    await index('files', ['created_by']).execute();
    await db.schema
      .createIndex('files_unhashed')
      .on('files')
      .column('created_at')
      .where(sql<boolean>`sha256 is null and status = 'UPLOADED'`)
      .execute();

    await ofProject('versions')
      .addColumn('name', text, (name) => name.notNull())
      .addColumn('folded_name', text, (name) => name.notNull())
      .addColumn('description', text)
      .addColumn('status', text, (status) => status.notNull())
      .addColumn('allow_restricted', 'integer', (allow) => allow.notNull().defaultTo(0))
      .addColumn('created_at', text, (at) => at.notNull())
      .addColumn('updated_at', text, (at) => at.notNull())
      .execute();
    await index('versions', ['project_id', 'created_at', 'id']).execute();
    await index('versions', ['project_id', 'folded_name', 'id']).execute();

    await db.schema
      .createTable('version_files')
      .addColumn('version_id', text, (id) => id.notNull().references('versions.id').onDelete('cascade'))
      .addColumn('file_id', text, (id) => id.notNull().references('files.id').onDelete('cascade'))
      .addColumn('position', 'integer', (position) => position.notNull())
      .addPrimaryKeyConstraint('version_files_key', ['version_id', 'file_id'])
      .execute();
    await index('version_files', ['file_id']).execute();

    await ofProject('comments')
      .addColumn('file_id', text, (id) => id.references('files.id').onDelete('cascade'))
      .addColumn('parent_id', text, (id) => id.references('comments.id').onDelete('cascade'))
      .addColumn('author_id', text, (id) => id.notNull().references('users.id'))
      .addColumn('content', text)
      .addColumn('anchor', 'bigint')
      .addColumn('duration', 'bigint')
      .addColumn('annotation', text)
      .addColumn('resolved_at', text)
      .addColumn('deleted_at', text)
      .addColumn('created_at', text, (at) => at.notNull())
      .addColumn('updated_at', text, (at) => at.notNull())
      .execute();
    const onlyTopLevel = sql<boolean>`parent_id is null`;
    await index('comments', ['project_id', 'created_at', 'id'])
      .where(sql<boolean>`${onlyTopLevel} and file_id is null`)
      .execute();
    await index('comments', ['file_id', 'created_at', 'id']).where(onlyTopLevel).execute();
    await index('comments', ['parent_id', 'created_at', 'id']).execute();
    await index('comments', ['author_id']).execute();

    await db.schema
      .createTable('reactions')
      .addColumn('comment_id', text, (id) => id.notNull().references('comments.id').onDelete('cascade'))
      .addColumn('user_id', text, (id) => id.notNull().references('users.id').onDelete('cascade'))
      .addColumn('type', text, (type) => type.notNull())
      .addColumn('created_at', text, (at) => at.notNull())
      .addPrimaryKeyConstraint('reactions_key', ['comment_id', 'user_id', 'type'])
      .execute();
    await index('reactions', ['user_id']).execute();

    await ofProject('uploads')
      .addColumn('started_by', text, (id) => id.notNull().references('users.id'))
      .addColumn('name', text, (name) => name.notNull())
      .addColumn('declared_type', text)
      .addColumn('size', 'bigint', (size) => size.notNull())
      .addColumn('part_count', 'integer', (count) => count.notNull())
      .addColumn('storage_key', text, (key) => key.notNull())
      .addColumn('storage_upload', text)
      .addColumn('completed_with', text)
      .addColumn('mime_type', text)
      .addColumn('comment_id', text, (id) => id.references('comments.id').onDelete('set null'))
      .addColumn('comment_position', 'integer')
      .addColumn('created_at', text, (at) => at.notNull())
      .addColumn('expires_at', text, (at) => at.notNull())
      .execute();
    await index('uploads', ['project_id']).execute();
    await index('uploads', ['comment_id', 'comment_position']).execute();
    await index('uploads', ['started_by']).execute();
    await index('uploads', ['expires_at']).where(sql<boolean>`comment_id is null`).execute();

    await ofProject('access_links')
      .addColumn('role', text, (role) => role.notNull())
      .addColumn('description', text)
      .addColumn('key_hash', text, (hash) => hash.notNull().unique())
      .addColumn('sealed_key', text, (key) => key.notNull())
      .addColumn('created_at', text, (at) => at.notNull())
      .addColumn('expires_at', text)
      .execute();
    await index('access_links', ['project_id', 'created_at', 'id']).execute();

    await table('skills')
      .addColumn('workspace_id', text, (id) => id.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('name', text, (name) => name.notNull())
      .addColumn('description', text, (description) => description.notNull())
      .addColumn('metadata', text)
      .addColumn('allowed_tools', text)
      .addColumn('license', text)
      .addColumn('default_version_id', text)
      .addColumn('created_at', text, (at) => at.notNull())
      .addColumn('updated_at', text, (at) => at.notNull())
      .execute();
    await index('skills', ['workspace_id', 'created_at', 'id']).execute();

    await table('skill_versions')
      .addColumn('skill_id', text, (id) => id.notNull().references('skills.id').onDelete('cascade'))
      .addColumn('version', 'integer', (version) => version.notNull())
      .addColumn('content', text, (content) => content.notNull())
      .addColumn('note', text)
      .addColumn('created_at', text, (at) => at.notNull())
      .addUniqueConstraint('skill_versions_number', ['skill_id', 'version'])
      .execute();

    await db.schema
      .createTable('doomed_blobs')
      .addColumn('storage_key', text, (key) => key.primaryKey())
      .addColumn('storage_upload', text)
      .addColumn('doomed_at', text, (at) => at.notNull())
      .execute();
  },
});
