import { Migrator } from 'kysely/migration';
import * as foundation from './migrations/0001-foundation.ts';
import * as reviewRooms from './migrations/0002-review-rooms.ts';
import * as generation from './migrations/0003-generation.ts';
import * as oauthSubjects from './migrations/0004-oauth-subjects.ts';
import * as memberDecisions from './migrations/0005-member-decisions.ts';
import * as workers from './migrations/0006-workers.ts';
import * as uploadAttempts from './migrations/0008-upload-attempts.ts';
import type { MigrationFor } from './migrations/migration.ts';
import type { OpenDatabase } from './open.ts';
import type { Database } from './schema.ts';

/** In order; a released migration never changes. */
const MIGRATIONS: Record<string, MigrationFor> = {
  '0001-foundation': foundation.migration,
  '0002-review-rooms': reviewRooms.migration,
  '0003-generation': generation.migration,
  '0004-oauth-subjects': oauthSubjects.migration,
  '0005-member-decisions': memberDecisions.migration,
  '0006-workers': workers.migration,
  '0008-upload-attempts': uploadAttempts.migration,
};

/** Brings the schema up to date, under a lock: of several servers that start at once, one migrates and the others wait. */
export function migrate(opened: OpenDatabase): Promise<string[]> {
  // SQLite's only lock that spans processes is a transaction; Postgres has an advisory lock, which Kysely takes by itself.
  return opened.dialect === 'sqlite'
    ? opened.db.transaction().execute((transaction) => migrateWith(transaction, opened.dialect))
    : migrateWith(opened.db, opened.dialect);
}

async function migrateWith(db: Database, dialect: OpenDatabase['dialect']): Promise<string[]> {
  const migrator = new Migrator({
    db,
    provider: {
      getMigrations: async () =>
        Object.fromEntries(Object.entries(MIGRATIONS).map(([name, migration]) => [name, migration(dialect)])),
    },
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return (results ?? []).map((result) => result.migrationName);
}
