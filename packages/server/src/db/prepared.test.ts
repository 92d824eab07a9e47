import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DIALECTS, onEachDatabase, openHouse } from '../test/house.ts';
import { sentWhile } from '../test/sent-statements.ts';
import { type Param, type Params, prepared } from './prepared.ts';
import type { Database } from './schema.ts';
import { inTransaction } from './transaction.ts';

onEachDatabase((house) => {
  const textsOf = async (work: () => Promise<unknown>) =>
    (await sentWhile(house().deps.db, work)).map(({ sql: text }) => text);

  test('a statement is built once for each choice and set of defined values', async () => {
    const { deps, people } = house();
    const build = vi.fn();
    const find = prepared.all(
      (db, { id, name }: Params<{ id: string; name?: string | undefined }>, direction: 'asc' | 'desc') => {
        build();
        const users = db.selectFrom('users').select('id').where('id', '=', id).orderBy('id', direction);
        return name === undefined ? users : users.where('name', '=', name);
      },
    );
    const { userId } = people.owner;
    expect(await find(deps.db, { id: userId }, 'asc')).toEqual([{ id: userId }]);
    expect(await find(deps.db, { id: people.member.userId, name: undefined }, 'asc')).toHaveLength(1);
    expect(build).toHaveBeenCalledTimes(1);
    expect(await find(deps.db, { id: userId, name: 'Another' }, 'asc')).toEqual([]);
    expect(await inTransaction(deps.db, (trx) => find(trx, { id: userId, name: 'The owner' }, 'asc'))).toHaveLength(1);
    expect(build).toHaveBeenCalledTimes(2);
    await find(deps.db, { id: userId }, 'desc');
    expect(build).toHaveBeenCalledTimes(3);
  });

  test('rare combinations do not pile up in memory', async () => {
    const { db } = house().deps;
    const build = vi.fn();
    const find = prepared.one((_, value: Param<number>, _choice: number) => {
      build();
      return sql<{ value: number }>`select cast(${value} as integer) as value`;
    });
    for (let choice = 0; choice < 501; choice++) expect(await find(db, choice, choice)).toEqual({ value: choice });
    expect(build).toHaveBeenCalledTimes(501);
    await find(db, 0, 0);
    expect(build).toHaveBeenCalledTimes(502);
  });

  test('constants are part of the text, quoted', async () => {
    const { db } = house().deps;
    const find = prepared.first((building) =>
      building.selectFrom('users').select('id').where('name', '=', "O'Neil").limit(7),
    );
    const [text = ''] = await textsOf(() => find(db));
    expect(text).toContain("'O''Neil'");
    expect(text).toMatch(/limit 7$/);
  });

  test('a statement about an empty list is not sent', async () => {
    const { db } = house().deps;
    const find = prepared.all((_, ids: Param<string[]>) => sql<{ ids: string }>`select ${ids} as ids`);
    expect(await textsOf(async () => expect(await find(db, [])).toEqual([]))).toEqual([]);
  });

  describe('a parameter has no value while the statement is built', () => {
    test.each<[string, (id: Param<string>) => string]>([
      ['text', (id) => `${id}`],
      ['JSON', (id) => JSON.stringify({ id })],
      ['a sum', (id) => String(id) + 1],
    ])('%s', async (_, read) => {
      const find = prepared.first((db, id: Param<string>) =>
        db.selectFrom('users').select('id').where('id', '=', read(id)),
      );
      await expect(find(house().deps.db, 'x')).rejects.toThrow('no value while its statement is built');
    });
  });

  describe('a statement whose result is not read', () => {
    const insert = prepared.run((_, value: Param<number>) => sql`insert into counted (value) values (${value})`);
    const count = prepared.one(() => sql<{ count: number }>`select count(*) as count from counted`);
    const counted = async (db: Database) => Number((await count(db)).count);

    beforeEach(() => sql`create table counted (value integer unique)`.execute(house().deps.db));
    afterEach(() => sql`drop table counted`.execute(house().deps.db));

    test('is seen by the next one of its transaction', async () => {
      const { db } = house().deps;
      await inTransaction(db, async (trx) => {
        await insert(trx, 1);
        expect(await counted(trx)).toBe(1);
        await insert(trx, 2);
        expect((await sql`select * from counted`.execute(trx)).rows).toHaveLength(2);
        await insert(trx, 3);
      });
      expect(await counted(db)).toBe(3);
    });

    test('is stored at once without a transaction', async () => {
      const { db } = house().deps;
      await insert(db, 1);
      expect(await counted(db)).toBe(1);
    });

    test.each([
      ['before a commit', async () => {}],
      ['before another statement', counted],
    ])('fails its transaction with its own error %s', async (_, then) => {
      const { db } = house().deps;
      const repeat = inTransaction(db, async (trx) => {
        await insert(trx, 1);
        await insert(trx, 1);
        await then(trx);
      });
      await expect(repeat).rejects.toThrow(/unique/i);
      expect(await counted(db)).toBe(0);
    });

    test('is not sent after a rollback', async () => {
      const { db } = house().deps;
      const failing = inTransaction(db, async (trx) => {
        await insert(trx, 1);
        throw new Error('rolled back');
      });
      await expect(failing).rejects.toThrow('rolled back');
      await inTransaction(db, (trx) => insert(trx, 2));
      expect((await sql`select value from counted`.execute(db)).rows).toEqual([{ value: 2 }]);
    });
  });

  test('one() requires a row', async () => {
    const get = prepared.one((db, id: Param<string>) => db.selectFrom('users').select('id').where('id', '=', id));
    await expect(get(house().deps.db, 'x')).rejects.toThrow('no row');
  });

  test('a statement whose columns a migration has changed is prepared again, also in a transaction', async () => {
    const { db } = house().deps;
    await sql`create table growing (a integer)`.execute(db);
    const all = prepared.all(() => sql<object>`select * from growing`);
    const first = prepared.lookUp(() => sql<object>`select * from growing limit 1`);
    for (const column of ['b', 'c']) {
      await Promise.all(Array.from({ length: 20 }, () => [all(db), first(db)]).flat());
      await sql`alter table growing add column ${sql.ref(column)} integer`.execute(db);
      await sql`insert into growing (a) values (1)`.execute(db);
      const reads = Array.from({ length: 20 }, () => all(db));
      const lookUps = Array.from({ length: 20 }, () => first(db));
      for (const rows of await Promise.all(reads)) expect(rows[0]).toHaveProperty(column);
      for (const row of await Promise.all(lookUps)) expect(row).toHaveProperty(column);
      await sql`alter table growing add column ${sql.ref(`${column}2`)} integer`.execute(db);
      expect((await inTransaction(db, (trx) => all(trx)))[0]).toHaveProperty(`${column}2`);
    }
  });
});

test.runIf(DIALECTS.includes('postgres'))('on Postgres a connection prepares a statement once', async () => {
  await using house = await openHouse('postgres');
  const find = prepared.first((db, id: Param<string>) => db.selectFrom('users').select('email').where('id', '=', id));
  await inTransaction(house.deps.db, async (trx) => {
    for (const id of ['a', 'b', 'c']) await find(trx, id);
    const held = sql`select name from pg_prepared_statements where statement like 'select "email" from%'`;
    expect((await held.execute(trx)).rows).toHaveLength(1);
  });
});
