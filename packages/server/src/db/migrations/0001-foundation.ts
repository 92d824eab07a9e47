import { type Kysely, sql } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    const text = textType(dialect);
    const table = (name: string) => db.schema.createTable(name).addColumn('id', text, (id) => id.primaryKey());

    await table('workspaces')
      .addColumn('name', text, (name) => name.notNull())
      .addColumn('avatar_url', text)
      .addColumn('created_at', text, (at) => at.notNull())
      .execute();

    await table('users')
      .addColumn('email', text, (email) => email.notNull().unique())
      .addColumn('name', text, (name) => name.notNull())
      .addColumn('avatar_url', text)
      .addColumn('created_at', text, (at) => at.notNull())
      .execute();

    await table('workspace_members')
      .addColumn('workspace_id', text, (id) => id.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('user_id', text, (id) => id.notNull().references('users.id').onDelete('cascade'))
      .addColumn('display_name', text)
      .addColumn('avatar_url', text)
      .addColumn('created_at', text, (at) => at.notNull())
      .addUniqueConstraint('workspace_members_workspace_user', ['workspace_id', 'user_id'])
      .execute();
    await db.schema.createIndex('workspace_members_user').on('workspace_members').column('user_id').execute();

    await table('api_keys')
      .addColumn('workspace_id', text, (id) => id.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('user_id', text, (id) => id.notNull().references('users.id').onDelete('cascade'))
      .addColumn('hash', text, (hash) => hash.notNull().unique())
      .addColumn('hint', text, (hint) => hint.notNull())
      .addColumn('scopes', text, (scopes) => scopes.notNull())
      .addColumn('created_at', text, (at) => at.notNull())
      .addColumn('expires_at', text)
      .addColumn('last_used_at', text)
      .addColumn('revoked_at', text)
      .execute();
    await db.schema.createIndex('api_keys_workspace').on('api_keys').columns(['workspace_id', 'created_at']).execute();
    await db.schema.createIndex('api_keys_user').on('api_keys').column('user_id').execute();

    await table('projects')
      .addColumn('workspace_id', text, (id) => id.notNull().references('workspaces.id').onDelete('cascade'))
      .addColumn('name', text, (name) => name.notNull())
      .addColumn('description', text)
      .addColumn('deadline', text)
      .addColumn('folded_name', text, (name) => name.notNull())
      .addColumn('folded_text', text, (search) => search.notNull())
      .addColumn('created_at', text, (at) => at.notNull())
      .addColumn('updated_at', text, (at) => at.notNull())
      .addColumn('deletes_at', text)
      .execute();
    for (const key of ['folded_name', 'created_at', 'updated_at']) {
      await db.schema.createIndex(`projects_${key}`).on('projects').columns(['workspace_id', key, 'id']).execute();
    }
    await db.schema
      .createIndex('projects_deletes_at')
      .on('projects')
      .column('deletes_at')
      .where(sql.ref('deletes_at'), 'is not', null)
      .execute();

    await table('project_members')
      .addColumn('project_id', text, (id) => id.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('user_id', text, (id) => id.notNull().references('users.id').onDelete('cascade'))
      .addColumn('role', text, (role) => role.notNull())
      .addColumn('created_at', text, (at) => at.notNull())
      .addUniqueConstraint('project_members_project_user', ['project_id', 'user_id'])
      .execute();
    await db.schema
      .createIndex('project_members_user')
      .on('project_members')
      .columns(['user_id', 'project_id'])
      .execute();

    await table('folders')
      .addColumn('project_id', text, (id) => id.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('parent_id', text, (id) => id.references('folders.id').onDelete('cascade'))
      .addColumn('name', text, (name) => name.notNull())
      .addColumn('created_at', text, (at) => at.notNull())
      .execute();
    await db.schema.createIndex('folders_project').on('folders').columns(['project_id', 'created_at', 'id']).execute();
    await db.schema.createIndex('folders_parent').on('folders').column('parent_id').execute();

    await db.schema
      .createTable('idempotency_keys')
      .addColumn('scope', text, (scope) => scope.primaryKey())
      .addColumn('fingerprint', text, (fingerprint) => fingerprint.notNull())
      .addColumn('claim', text, (claim) => claim.notNull())
      .addColumn('claimed_at', text, (at) => at.notNull())
      .addColumn('response', text)
      .execute();
    await db.schema.createIndex('idempotency_keys_claimed_at').on('idempotency_keys').column('claimed_at').execute();

    await db.schema
      .createTable('provider_reports')
      .addColumn('family', text, (family) => family.primaryKey())
      .addColumn('state', text, (state) => state.notNull())
      .addColumn('reason', text)
      .addColumn('worker', text, (worker) => worker.notNull())
      .addColumn('reported_at', text, (at) => at.notNull())
      .execute();

    if (dialect === 'postgres') {
      await db.schema
        .createTable('rate_limits')
        .addColumn('key', 'varchar(255)', (key) => key.primaryKey())
        .addColumn('points', 'integer', (points) => points.notNull().defaultTo(0))
        .addColumn('expire', 'bigint')
        .execute();
    }
  },
});
