import { type Kysely, sql } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

/** Refers to no other table, so that an act stays when its subject is deleted. Older servers record no acts. */
export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    const text = textType(dialect);
    await db.schema
      .createTable('audit_log')
      .addColumn('id', text, (id) => id.primaryKey())
      .addColumn('at', text, (at) => at.notNull())
      .addColumn('act', text, (act) => act.notNull())
      .addColumn('actor_id', text)
      .addColumn('operator', text)
      .addColumn('workspace_id', text)
      .addColumn('project_id', text)
      .addColumn('subject_id', text)
      .addColumn('data', text, (data) => data.notNull())
      .execute();
    await db.schema.createIndex('audit_log_at').on('audit_log').columns(['at', 'id']).execute();
    if (dialect === 'postgres') {
      await sql`create function refuse_audit_update() returns trigger language plpgsql as
        $$ begin raise exception 'audit_log is append-only'; end $$`.execute(db);
      await sql`create trigger refuse_audit_update before update on audit_log
        for each row execute function refuse_audit_update()`.execute(db);
    } else {
      await sql`create trigger refuse_audit_update before update on audit_log
        begin select raise(abort, 'audit_log is append-only'); end`.execute(db);
    }
  },
});
