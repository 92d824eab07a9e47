import { type Kysely, sql } from 'kysely';
import type { MigrationFor } from './migration.ts';

/**
 * On SQLite, which has one writer, the last event of a project is its counter, so that an event writes no second row.
 * `event_floors` keeps the number when the last event is deleted. The counters are a view, which older servers can read too.
 */
export const migration: MigrationFor = (dialect) => ({
  async up(db: Kysely<unknown>) {
    if (dialect === 'postgres') return;
    await sql`drop trigger count_event`.execute(db);
    await sql`alter table event_counters rename to event_floors`.execute(db);
    await sql`
      create view event_counters as
      select project_id, coalesce(
        (select max(sequence) from events where events.project_id = event_floors.project_id), last_sequence
      ) as last_sequence from event_floors`.execute(db);
    // The row of a project also deletes its events, and refuses those of a project that was deleted.
    await sql`
      create trigger add_event_floor after insert on events when new.sequence = 1
      begin insert into event_floors (project_id, last_sequence) values (new.project_id, 0); end`.execute(db);
    await sql`
      create trigger raise_event_floor before delete on events
      when not exists (select 1 from events where project_id = old.project_id and sequence > old.sequence)
      begin
        update event_floors set last_sequence = max(last_sequence, old.sequence) where project_id = old.project_id;
      end`.execute(db);
  },
});
