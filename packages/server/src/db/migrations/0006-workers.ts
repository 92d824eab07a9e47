import { type Kysely, sql } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

/** Keeps `provider_reports`, which servers of an older release use until all are upgraded. */
export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    const text = textType(dialect);
    await db.schema
      .createTable('workers')
      .addColumn('name', text, (name) => name.primaryKey())
      .addColumn('version', text)
      .addColumn('families', text, (families) => families.notNull())
      .addColumn('refusals', text, (refusals) => refusals.notNull())
      .addColumn('started_at', text, (at) => at.notNull())
      .addColumn('seen_at', text, (at) => at.notNull())
      .execute();
    await db.schema.createIndex('workers_seen').on('workers').column('seen_at').execute();

    await db.schema
      .alterTable('generations')
      .addColumn('promised', text, (promised) => promised.notNull().defaultTo('sandbox'))
      .execute();
    await db.schema.dropIndex('generations_deadline').execute();
    await db.schema
      .createIndex('generations_deadline')
      .on('generations')
      .column('deadline_at')
      .where(sql<boolean>`status in ('QUEUED', 'RUNNING')`)
      .execute();
    await db.schema
      .createIndex('generations_queue')
      .on('generations')
      .columns(['family', 'promised', 'queued_at'])
      .where(sql<boolean>`status = 'QUEUED'`)
      .execute();
    const aDayLater =
      dialect === 'postgres'
        ? sql`to_char(queued_at::timestamp + interval '1 day', 'YYYY-MM-DD HH24:MI:SS.US')`
        : sql`strftime('%Y-%m-%d %H:%M:%f', queued_at, '+1 day') || '000'`;
    await sql`update generations set deadline_at = ${aDayLater} where status = 'QUEUED'`.execute(db);
  },
});
