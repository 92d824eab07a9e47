import { type Kysely, sql } from 'kysely';
import { type MigrationFor, textType } from './migration.ts';

export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    const text = textType(dialect);
    await db.schema
      .createTable('event_counters')
      .addColumn('project_id', text, (id) => id.primaryKey().references('projects.id').onDelete('cascade'))
      .addColumn('last_sequence', 'bigint', (last) => last.notNull())
      .execute();
    await db.schema
      .createTable('events')
      .addColumn('project_id', text, (id) => id.notNull())
      .addColumn('sequence', 'bigint', (sequence) => sequence.notNull())
      .addColumn('type', text, (type) => type.notNull())
      .addColumn('subject_id', text, (id) => id.notNull())
      .addColumn('guard_id', text)
      .addColumn('was_open', 'integer')
      .addColumn('actor_id', text)
      .addColumn('at', text, (at) => at.notNull())
      .addColumn('data', text, (data) => data.notNull())
      .addPrimaryKeyConstraint('events_key', ['project_id', 'sequence'])
      // One tree to write instead of two.
      .$call((table) => (dialect === 'sqlite' ? table.modifyEnd(sql`without rowid`) : table))
      .execute();
    await db.schema
      .createIndex('events_subject')
      .on('events')
      .columns(['project_id', 'subject_id', 'sequence'])
      .execute();
    // A trigger instead of a foreign key, which would be checked at each insert: every event has raised its counter.
    const deleteEvents = sql`delete from events where project_id = old.project_id`;
    if (dialect === 'sqlite') {
      await sql`create trigger delete_events after delete on event_counters begin ${deleteEvents}; end`.execute(db);
      // Postgres counts by the statement that inserts the event, which SQLite cannot.
      await sql`
        create trigger count_event after insert on events
        begin
          insert into event_counters (project_id, last_sequence) values (new.project_id, new.sequence)
          on conflict (project_id) do update set last_sequence = excluded.last_sequence;
        end`.execute(db);
    } else {
      await sql`
        create function delete_events() returns trigger language plpgsql as
        $$ begin ${deleteEvents}; return null; end $$`.execute(db);
      await sql`
        create trigger delete_events after delete on event_counters
        for each row execute function delete_events()`.execute(db);
    }
    await db.schema.alterTable('generations').addColumn('progressed_at', text).execute();
  },
});
