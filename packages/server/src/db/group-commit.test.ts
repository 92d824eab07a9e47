import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { Kysely, SqliteDialect, sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { groupCommit } from './group-commit.ts';
import type { Schema, Writer } from './schema.ts';

let folder: string;
let file: SqliteDatabase.Database;
let db: Kysely<Schema>;
let statements: string[];
beforeEach(() => {
  statements = [];
  folder = mkdtempSync(join(tmpdir(), 'review-group-'));
  file = openFile();
  file.exec('create table parent (id integer primary key)');
  file.exec('create table child (id integer primary key, parent integer references parent (id))');
  const prepare = (text: string) => file.prepare(text === 'begin' ? 'begin immediate' : text);
  db = new Kysely({
    dialect: new SqliteDialect({ database: { close: () => void file.close(), prepare } }),
    log({ query }) {
      statements.push(query.sql);
    },
  });
});
afterEach(async () => {
  await db.destroy();
  rmSync(folder, { recursive: true, force: true });
});

const openFile = () => new SqliteDatabase(join(folder, 'test.db'), { timeout: 0 });
const insert = (id: number) => async (trx: Writer) => {
  await sql`insert into parent values (${id})`.execute(trx);
  return id;
};
const stored = async () =>
  (await sql<{ id: number }>`select id from parent order by id`.execute(db)).rows.map(({ id }) => id);
const count = (statement: string) => statements.filter((text) => text === statement).length;

test('transactions that arrive together share a commit, and each gets its own result', async () => {
  const run = groupCommit(db);
  expect(await Promise.all([1, 2, 3].map((id) => run(insert(id))))).toEqual([1, 2, 3]);
  expect(await stored()).toEqual([1, 2, 3]);
  expect(count('commit')).toBe(1);
});

test('a transaction alone has no savepoint', async () => {
  await groupCommit(db)(insert(1));
  expect(statements).toEqual(['begin', expect.stringContaining('insert'), 'commit']);
});

test('one that fails is rolled back alone, with its own error', async () => {
  const run = groupCommit(db);
  const failing = run(async (trx) => {
    await insert(9)(trx);
    throw new Error('no');
  });
  const outcomes = await Promise.allSettled([run(insert(1)), failing, run(insert(2)), run(insert(1))]);
  expect(outcomes).toMatchObject([
    { value: 1 },
    { reason: { message: 'no' } },
    { value: 2 },
    { reason: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } },
  ]);
  expect(await stored()).toEqual([1, 2]);
});

test('if the commit of a group fails, only the transaction at fault fails', async () => {
  const run = groupCommit(db);
  const orphan = run(async (trx) => {
    await sql`pragma defer_foreign_keys = on`.execute(trx);
    await sql`insert into child values (1, 99)`.execute(trx);
  });
  expect(await Promise.allSettled([run(insert(1)), orphan, run(insert(2))])).toMatchObject([
    { value: 1 },
    { reason: { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' } },
    { value: 2 },
  ]);
  expect(await stored()).toEqual([1, 2]);
});

test('if SQLite rolls the whole group back, the others run again', async () => {
  const run = groupCommit(db);
  const outcomes = await Promise.allSettled([
    run(insert(1)),
    run(async (trx) => {
      await sql`insert or rollback into parent values (1), (1)`.execute(trx);
    }),
    run(insert(2)),
  ]);
  expect(outcomes).toMatchObject([{ value: 1 }, { status: 'rejected' }, { value: 2 }]);
  expect(await stored()).toEqual([1, 2]);
});

test('if another process has locked the database, each fails with the reason after one wait', async () => {
  const other = openFile();
  other.exec('begin immediate');
  const run = groupCommit(db);
  const outcomes = await Promise.allSettled([run(insert(1)), run(insert(2))]);
  expect(outcomes).toMatchObject([{ reason: { code: 'SQLITE_BUSY' } }, { reason: { code: 'SQLITE_BUSY' } }]);
  expect(count('begin')).toBe(1);
  other.close();
  expect(await run(insert(3))).toBe(3);
});

test('more transactions than a group holds run in several groups, in order', async () => {
  const run = groupCommit(db);
  const order: number[] = [];
  await Promise.all(Array.from({ length: 100 }, (_, id) => run(insert(id)).then((done) => order.push(done))));
  expect(order).toEqual(Array.from({ length: 100 }, (_, id) => id));
  expect(count('commit')).toBeLessThan(10);
});
