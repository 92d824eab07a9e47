import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { insertWorkspace } from '../accounts/queries.ts';
import { appendEvents } from '../rooms/events/outbox.ts';
import { insertProject } from '../rooms/projects/queries.ts';
import { DIALECTS } from '../test/house.ts';
import { createDatabase } from '../test/postgres.ts';
import { becomesReady, runProgram, startServer } from '../test/server-process.ts';
import type { DatabaseAddress } from './database.ts';
import { newUuid } from './ids.ts';
import { migrate } from './migrate.ts';
import { openDatabase } from './open.ts';
import { now } from './time.ts';
import { inTransaction } from './transaction.ts';

const folder = mkdtempSync(join(tmpdir(), 'review-migrate-'));
const made = new AsyncDisposableStack();
made.defer(() => rmSync(folder, { recursive: true, force: true }));
afterAll(() => made.disposeAsync());
let databases = 0;

const EMPTY = {
  sqlite: async () => {
    const path = join(folder, `${++databases}.db`);
    const address: DatabaseAddress = { dialect: 'sqlite', path };
    return { address, url: `sqlite:${path}` };
  },
  postgres: async () => {
    const { url } = made.use(await createDatabase(inject('postgresUrl'), 'template1'));
    const address: DatabaseAddress = { dialect: 'postgres', url, connections: 2 };
    return { address, url };
  },
};

describe.each(DIALECTS)('%s', (dialect) => {
  const emptyDatabase = EMPTY[dialect];

  test('running again applies nothing', async () => {
    const { address } = await emptyDatabase();
    await using opened = openDatabase(address, () => {});
    expect(await migrate(opened)).toContain('0001-foundation');
    expect(await migrate(opened)).toEqual([]);
  });

  test('three servers that start concurrently on an empty database all start, and one of them migrates', async () => {
    const { url } = await emptyDatabase();
    const start = () => startServer({ DATABASE_URL: url });
    const servers = await Promise.all([start(), start(), start()]);
    const finished = await Promise.all(
      servers.map(async (server) => {
        await using running = server;
        await becomesReady(running);
        running.process.kill('SIGTERM');
        return await running.finished;
      }),
    );
    expect(finished.map(({ code, errors }) => [code, errors])).toEqual(Array(3).fill([0, '']));
    expect(finished.filter(({ output }) => output.includes('"applied":["0001-foundation"'))).toHaveLength(1);
  });

  test('a migrate command beside a running server applies nothing and does not disturb it', async () => {
    const { url } = await emptyDatabase();
    await using server = await startServer({ DATABASE_URL: url });
    await using command = runProgram('commands/main.js', { DATABASE_URL: url }, ['migrate', '--json']);
    const { code, output } = await command.finished;
    expect([code, JSON.parse(output)]).toEqual([0, { applied: [] }]);
    await becomesReady(server);
  });

  /** The database after a newer release has migrated it, with that oldest compatible migration. */
  async function migratedByNewer(oldestCompatible: string) {
    const { address, url } = await emptyDatabase();
    await using opened = openDatabase(address, () => {});
    const applied = await migrate(opened);
    await sql`insert into kysely_migration (name, timestamp) values ('9998-expand', '2030'), ('9999-newest', '2030')`.execute(
      opened.db,
    );
    await opened.db.updateTable('schema_compatibility').set({ oldest_compatible: oldestCompatible }).execute();
    return { url, newest: applied.at(-1) ?? '' };
  }

  test('a server runs on a newer compatible schema, does not change it, and can migrate again', async () => {
    const { url } = await migratedByNewer('0007-schema-compatibility');
    await using server = await startServer({ DATABASE_URL: url });
    await becomesReady(server);
    await using command = runProgram('commands/main.js', { DATABASE_URL: url }, ['migrate', '--json']);
    const { code, output } = await command.finished;
    expect([code, JSON.parse(output)]).toEqual([0, { applied: [] }]);
  });

  test('a server refuses an incompatible newer schema with a message that names the versions', async () => {
    const { url, newest } = await migratedByNewer('9998-expand');
    await using server = runProgram('main.js', { DATABASE_URL: url, PORT: '0' });
    const { code, errors } = await server.finished;
    expect([code, errors.trim()]).toEqual([
      1,
      `The database schema is at 9999-newest, but this server knows migrations up to ${newest} and the schema needs a server that knows 9998-expand: start the newer release, or restore the backup that was made before the upgrade.`,
    ]);
  });

  test('blob deletions that an earlier release has scheduled are kept', async () => {
    const { address } = await emptyDatabase();
    await using opened = openDatabase(address, () => {});
    await migrate(opened, '0011-search-index');
    await sql`insert into doomed_blobs (storage_key, storage_upload, doomed_at) values ('a', 'b', '2020')`.execute(
      opened.db,
    );
    expect(await migrate(opened)).toContain('0012-pending-blob-deletions');
    expect(await opened.db.selectFrom('pending_blob_deletions').selectAll().execute()).toEqual([
      { storage_key: 'a', storage_upload: 'b', scheduled_at: '2020' },
    ]);
  });

  test('events are numbered after those that an earlier release has stored, whether or not they are still kept', async () => {
    const { address } = await emptyDatabase();
    await using opened = openDatabase(address, () => {});
    const { db } = opened;
    await migrate(opened, '0023-trace-context');
    const project = {
      workspace_id: await insertWorkspace(db, 'Earlier'),
      name: 'Earlier',
      description: null,
      deadline: null,
      created_at: now(),
    };
    const [kept, swept] = [newUuid(), newUuid()];
    const append = (id: string) =>
      inTransaction(db, (trx) =>
        appendEvents(trx, null, [{ type: 'project.restored', projectId: id, subjectId: id, data: {} }]),
      );
    for (const id of [kept, swept]) {
      await inTransaction(db, (trx) => insertProject(trx, { ...project, id }));
      await append(id);
      await append(id);
    }
    await db.deleteFrom('events').where('project_id', '=', swept).execute();
    expect(await migrate(opened)).toContain('0024-event-floors');
    const counters = () => db.selectFrom('event_counters').selectAll().orderBy('project_id').execute();
    const after = (last: number) => [kept, swept].toSorted().map((id) => ({ project_id: id, last_sequence: last }));
    expect(await counters()).toEqual(after(2));
    for (const id of [kept, swept]) await append(id);
    expect(await counters()).toEqual(after(3));
    await db.deleteFrom('events').execute();
    expect(await counters()).toEqual(after(3));
    await db.deleteFrom('projects').where('id', '=', kept).execute();
    await expect(append(kept)).rejects.toThrow(/foreign key/i);
    await append(swept);
    expect(await db.selectFrom('events').select(['project_id', 'sequence']).execute()).toEqual([
      { project_id: swept, sequence: 4 },
    ]);
  });

  test('a broken migration table is reported as its own error', async () => {
    const { address } = await emptyDatabase();
    await using opened = openDatabase(address, () => {});
    await migrate(opened);
    await sql`delete from kysely_migration where name = '0001-foundation'`.execute(opened.db);
    await expect(migrate(opened)).rejects.toThrow(/corrupted migrations/);
  });
});
