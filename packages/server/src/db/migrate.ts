import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { OpenDatabase } from './database.ts';
import * as foundation from './migrations/0001-foundation.ts';
import * as reviewRooms from './migrations/0002-review-rooms.ts';
import * as generation from './migrations/0003-generation.ts';
import * as oauthSubjects from './migrations/0004-oauth-subjects.ts';
import * as memberDecisions from './migrations/0005-member-decisions.ts';
import * as workers from './migrations/0006-workers.ts';
import * as schemaCompatibility from './migrations/0007-schema-compatibility.ts';
import * as uploadAttempts from './migrations/0008-upload-attempts.ts';
import * as unloggedRateLimits from './migrations/0009-unlogged-rate-limits.ts';
import * as stepRecords from './migrations/0010-step-records.ts';
import * as searchIndex from './migrations/0011-search-index.ts';
import * as pendingBlobDeletions from './migrations/0012-pending-blob-deletions.ts';
import * as events from './migrations/0013-events.ts';
import * as webhooks from './migrations/0014-webhooks.ts';
import * as media from './migrations/0015-media.ts';
import * as mediaPages from './migrations/0016-media-pages.ts';
import * as trash from './migrations/0017-trash.ts';
import * as searchCommentsAndPrompts from './migrations/0018-search-comments-and-prompts.ts';
import * as pausesAndDrains from './migrations/0020-pauses-and-drains.ts';
import * as auditLog from './migrations/0021-audit-log.ts';
import * as fileOrder from './migrations/0022-file-order.ts';
import * as traceContext from './migrations/0023-trace-context.ts';
import * as eventFloors from './migrations/0024-event-floors.ts';
import * as promptIndex from './migrations/0025-prompt-index.ts';
import type { MigrationFor } from './migrations/migration.ts';
import { withoutTimeouts } from './open.ts';
import type { Database } from './schema.ts';

/** In order; a released migration never changes. */
const MIGRATIONS: Record<string, MigrationFor> = {
  '0001-foundation': foundation.migration,
  '0002-review-rooms': reviewRooms.migration,
  '0003-generation': generation.migration,
  '0004-oauth-subjects': oauthSubjects.migration,
  '0005-member-decisions': memberDecisions.migration,
  '0006-workers': workers.migration,
  '0007-schema-compatibility': schemaCompatibility.migration,
  '0008-upload-attempts': uploadAttempts.migration,
  '0009-unlogged-rate-limits': unloggedRateLimits.migration,
  '0010-step-records': stepRecords.migration,
  '0011-search-index': searchIndex.migration,
  '0012-pending-blob-deletions': pendingBlobDeletions.migration,
  '0013-events': events.migration,
  '0014-webhooks': webhooks.migration,
  '0015-media': media.migration,
  '0016-media-pages': mediaPages.migration,
  '0017-trash': trash.migration,
  '0018-search-comments-and-prompts': searchCommentsAndPrompts.migration,
  '0020-pauses-and-drains': pausesAndDrains.migration,
  '0021-audit-log': auditLog.migration,
  '0022-file-order': fileOrder.migration,
  '0023-trace-context': traceContext.migration,
  '0024-event-floors': eventFloors.migration,
  '0025-prompt-index': promptIndex.migration,
};

/**
 * The oldest migration whose servers still work on this schema. They can run beside newer servers during an upgrade, and a
 * roll-back to them is possible. Raise it with a migration that removes, renames or narrows something they use.
 */
const OLDEST_COMPATIBLE = '0007-schema-compatibility';

/** The last migration of this release. */
export const latestMigration = (): string => Object.keys(MIGRATIONS).at(-1) ?? '';

/** The schema was changed by a newer release in a way that this server cannot work with. */
export class IncompatibleSchema extends Error {
  override name = 'IncompatibleSchema';
}

export const migrationsFor = (dialect: OpenDatabase['dialect']): Record<string, Migration> =>
  Object.fromEntries(Object.entries(MIGRATIONS).map(([name, migration]) => [name, migration(dialect)]));

/**
 * Applies pending migrations, up to `last` if given, and returns their names. Holds a lock, so that one of several starting servers migrates and
 * the others wait. Accepts a newer compatible schema as it is, and throws IncompatibleSchema for others.
 */
export async function migrate(opened: OpenDatabase, last?: string): Promise<string[]> {
  if (last === undefined && (await isUpToDate(opened.db))) return [];
  return withoutTimeouts(opened, (db) =>
    // On SQLite only a transaction locks across processes; on Postgres Kysely takes an advisory lock.
    opened.dialect === 'sqlite'
      ? db.transaction().execute((transaction) => migrateWith(transaction, opened.dialect, last))
      : migrateWith(db, opened.dialect, last),
  );
}

/** One query, where Kysely reads the columns of all tables, on Postgres over a connection of its own: a fifth of the start. */
const isUpToDate = (db: Database): Promise<boolean> =>
  listMigrations(db).then(
    ({ pending, newer }) => pending.length === 0 && newer.length === 0,
    // A new database has no table of migrations.
    () => false,
  );

async function migrateWith(db: Database, dialect: OpenDatabase['dialect'], last?: string): Promise<string[]> {
  const migrator = new Migrator({
    db,
    provider: {
      getMigrations: async () => migrationsFor(dialect),
    },
  });
  const { error, results } = await (last === undefined ? migrator.migrateToLatest() : migrator.migrateTo(last));
  if (error !== undefined) {
    // Checked only after the failure, because a newer server may have migrated while this one waited for the lock.
    const newest = await findNewerMigration(db);
    if (newest === undefined) throw error;
    await requireCompatible(db, newest);
    return [];
  }
  const applied = (results ?? []).map((result) => result.migrationName);
  if (applied.length > 0) {
    await db.updateTable('schema_compatibility').set({ oldest_compatible: OLDEST_COMPATIBLE }).execute();
  }
  return applied;
}

const findNewerMigration = async (db: Database) => (await listMigrations(db)).newer.at(-1);

/** Compares the migrations of the database with those of this release. Throws if the database has no schema. */
export async function listMigrations(db: Database): Promise<{ applied: string[]; pending: string[]; newer: string[] }> {
  const executed = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  const applied = executed.rows.map(({ name }) => name);
  return {
    applied,
    pending: Object.keys(MIGRATIONS).filter((name) => !applied.includes(name)),
    newer: applied.filter((name) => !(name in MIGRATIONS)),
  };
}

async function requireCompatible(db: Database, newest: string): Promise<void> {
  const known = latestMigration();
  const row = await db.selectFrom('schema_compatibility').select('oldest_compatible').executeTakeFirst();
  if (row !== undefined && known >= row.oldest_compatible) return;
  throw new IncompatibleSchema(
    `The database schema is at ${newest}, but this server knows migrations up to ${known} and the schema needs a ` +
      `server that knows ${row?.oldest_compatible ?? newest}: start the newer release, or restore the backup that was made before the upgrade.`,
  );
}
