import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { releaseVersion } from '../config/release.ts';
import { DIALECTS, type Dialect } from '../test/house.ts';
import { createDatabase } from '../test/postgres.ts';
import { reviewJson } from '../test/review.ts';
import type { DatabaseAddress } from './database.ts';
import { listMigrations, migrate } from './migrate.ts';
import { openDatabase } from './open.ts';
import {
  describeSchema,
  installReleased,
  isRecording,
  listReleased,
  readRows,
  recordStatements,
  storeReleased,
} from './test/released-schemas.ts';

const folder = mkdtempSync(join(tmpdir(), 'review-released-'));
const made = new AsyncDisposableStack();
made.defer(() => rmSync(folder, { recursive: true, force: true }));
afterAll(() => made.disposeAsync());

let databases = 0;

async function openEmpty(dialect: Dialect) {
  const path = join(folder, `${++databases}.db`);
  const url = dialect === 'sqlite' ? '' : made.use(await createDatabase(inject('postgresUrl'), 'template1')).url;
  const address: DatabaseAddress =
    dialect === 'sqlite' ? { dialect, path } : { dialect: 'postgres', url, connections: 2 };
  return made.use(openDatabase(address, () => {}));
}

const RELEASES = listReleased();

/** Run it when a release is made: RECORD_RELEASE=1 npm test -- db/released */
test.runIf(isRecording)('the schema of this release is recorded', async () => {
  const settings = { DATABASE_URL: `sqlite:${join(folder, 'demo.db')}` };
  await reviewJson(settings, 'migrate');
  await reviewJson(settings, 'demo');
  await using demo = openDatabase({ dialect: 'sqlite', path: join(folder, 'demo.db') }, () => {});
  const statements = { sqlite: await recordStatements('sqlite'), postgres: await recordStatements('postgres') };
  storeReleased({ release: releaseVersion(), statements, rows: await readRows(demo.db) });
  expect(listReleased().map(({ release }) => release)).toContain(releaseVersion());
});

describe.each(DIALECTS)('%s', (dialect) => {
  test.each(RELEASES)(
    'a database of $release is migrated to the schema of a new one, with all its rows',
    async (released) => {
      const [upgraded, fresh] = [await openEmpty(dialect), await openEmpty(dialect)];
      await installReleased(upgraded.db, dialect, released);
      await migrate(upgraded);
      await migrate(fresh);
      expect(await listMigrations(upgraded.db)).toMatchObject({ pending: [], newer: [] });
      expect(await describeSchema(upgraded.db, dialect)).toEqual(await describeSchema(fresh.db, dialect));
      expect(Object.keys(released.rows).length).toBeGreaterThan(5);
      for (const [name, rows] of Object.entries(released.rows)) {
        const { rows: kept } = await sql`select * from ${sql.raw(`"${name}"`)}`.execute(upgraded.db);
        expect(kept, name).toHaveLength(rows.length);
        expect(kept, name).toEqual(expect.arrayContaining(rows.map((row) => expect.objectContaining(row))));
      }
    },
  );

  test.each(RELEASES)('the migrations of $release have not changed since', async ({ statements }) => {
    const now = await recordStatements(dialect);
    for (const [migration, released] of Object.entries(statements[dialect])) {
      expect(JSON.parse(JSON.stringify(now[migration] ?? 'missing')), migration).toEqual(released);
    }
  });
});
