import { sql } from 'kysely';
import { expect, inject, vi } from 'vitest';
import { TIMED } from '../test/eventually.ts';
import { postgresTest } from '../test/house.ts';
import { createDatabase } from '../test/postgres.ts';
import { wireTo } from '../test/wire.ts';
import type { OpenDatabase } from './database.ts';
import { lookUp } from './look-ups.ts';
import { openDatabase } from './open.ts';
import { type Param, type Params, prepared } from './prepared.ts';

const findUser = prepared.lookUp((db, id: Param<string>) =>
  db.selectFrom('users').select(['id', 'name']).where('id', '=', id),
);
const divide = prepared.lookUp((_, by: Param<number>) => sql<{ result: number }>`select 6 / ${by}::integer as result`);

const users = (count: number) => Array.from({ length: count }, (_, index) => `user ${index}`);

/** Runs the work on a database with users, and counts the connections that it took from the pool. */
async function connectionsTaken(opened: OpenDatabase, work: () => Promise<void>): Promise<number> {
  if (opened.pool === null) throw new Error('the database is not Postgres');
  const connect = vi.spyOn(opened.pool, 'connect');
  await work();
  const taken = connect.mock.calls.length;
  connect.mockRestore();
  return taken;
}

async function openWithUsers(count: number, connections = 10) {
  const database = await createDatabase(inject('postgresUrl'));
  const opened = openDatabase({ dialect: 'postgres', url: database.url, connections }, () => {});
  const rows = users(count).map((id) => ({ id, name: `The ${id}`, email: `${id}@example.com`, created_at: '' }));
  await opened.db.insertInto('users').values(rows).execute();
  return {
    opened,
    url: database.url,
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

postgresTest('look-ups of a turn share a connection, and each gets its own row', async () => {
  await using site = await openWithUsers(40);
  const { db } = site.opened;
  const find = (id: string) => findUser(db, id);
  for (const [count, connections] of [
    [1, 1],
    [16, 1],
    [40, 3],
  ] as const) {
    const taken = await connectionsTaken(site.opened, async () => {
      const found = await Promise.all(users(count).map(find));
      expect(found).toEqual(users(count).map((id) => ({ id, name: `The ${id}` })));
    });
    expect(taken).toBe(connections);
  }
  expect(await Promise.all(['user 1', 'nobody', 'user 2'].map(find))).toMatchObject([
    { id: 'user 1' },
    undefined,
    { id: 'user 2' },
  ]);
});

postgresTest('a look-up that fails does not fail the others of its turn', async () => {
  await using site = await openWithUsers(3);
  const { db } = site.opened;
  // Before and after the connections have prepared the statements.
  for (let times = 0; times < 3; times++) {
    const all = [findUser(db, 'user 0'), divide(db, 0), divide(db, 2), findUser(db, 'user 2')];
    expect(await Promise.allSettled(all)).toMatchObject([
      { value: { id: 'user 0' } },
      { reason: { message: 'division by zero' } },
      { value: { result: 3 } },
      { value: { id: 'user 2' } },
    ]);
  }
});

postgresTest('look-ups whose connection is cut fail, and later ones work after it is restored', async () => {
  await using site = await openWithUsers(2);
  await using wire = await wireTo(site.url);
  await using remote = openDatabase({ dialect: 'postgres', url: wire.url, connections: 1 }, () => {});
  await findUser(remote.db, 'user 1');
  wire.stall();
  const cut = Promise.allSettled([findUser(remote.db, 'user 0'), findUser(remote.db, 'user 1')]);
  await wire.cut();
  expect(await cut).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  wire.resume();
  await wire.mend();
  expect(await findUser(remote.db, 'user 1')).toMatchObject({ id: 'user 1' });
});

postgresTest('in a transaction, a look-up sees what the transaction has written', async () => {
  await using site = await openWithUsers(1);
  const { db } = site.opened;
  await db.transaction().execute(async (trx) => {
    await trx.updateTable('users').set({ name: 'Renamed' }).execute();
    const [inside, outside] = await Promise.all([findUser(trx, 'user 0'), findUser(db, 'user 0')]);
    expect([inside?.name, outside?.name]).toEqual(['Renamed', 'The user 0']);
  });
});

postgresTest('statements without a name, as when there are too many, do not stand in for each other', async () => {
  await using site = await openWithUsers(1, 1);
  const { db } = site.opened;
  const add = sql<{ sum: number }>`select ${1}::integer + 1 as sum`.compile(db);
  const multiply = sql<{ product: number }>`select ${3}::integer * 2 as product`.compile(db);
  for (let times = 0; times < 2; times++) {
    const [added, multiplied] = await Promise.all([lookUp(db, add), lookUp(db, multiply), findUser(db, 'user 0')]);
    expect([...added.rows, ...multiplied.rows]).toEqual([{ sum: 2 }, { product: 6 }]);
  }
});

postgresTest('the timeout of a query ends with it, if the URL of the database has one', TIMED, async () => {
  await using site = await openWithUsers(1);
  const url = `${site.url}${site.url.includes('?') ? '&' : '?'}query_timeout=1000`;
  await using opened = openDatabase({ dialect: 'postgres', url, connections: 1 }, () => {});
  const idOfSession = async () => (await sql<{ id: number }>`select pg_backend_pid() as id`.execute(opened.db)).rows;
  const before = await idOfSession();
  await findUser(opened.db, 'user 0');
  for (let times = 0; times < 3; times++) await sql`select pg_sleep(0.4)`.execute(opened.db);
  expect(await idOfSession()).toEqual(before);
});

postgresTest('a value that cannot be sent fails before anything is sent, and the connection works on', async () => {
  await using site = await openWithUsers(1, 1);
  const { db } = site.opened;
  const circular: unknown[] = [];
  circular.push({ circular });
  const build = (_: unknown, { value }: Params<{ value: unknown }>) =>
    sql<{ text: string }>`select ${value}::text as text`;
  const [find, run] = [prepared.lookUp(build), prepared.run(build)];
  await expect(find(db, { value: circular })).rejects.toThrow(/circular/i);
  await expect(db.transaction().execute((trx) => run(trx, { value: circular }))).rejects.toThrow(/circular/i);
  expect(await findUser(db, 'user 0')).toMatchObject({ id: 'user 0' });
});
