import { expect, test } from 'vitest';
import { openHouse } from '../test/house.ts';
import { sentWhile } from '../test/sent-statements.ts';
import { type Param, prepared } from './prepared.ts';
import { inTransaction } from './transaction.ts';

const findName = prepared.first((db, id: Param<string>) => db.selectFrom('users').select('name').where('id', '=', id));
const rename = prepared.run((db, name: Param<string>) => db.updateTable('users').set({ name }));

test('a read sees nothing of an open transaction, neither of one that is rolled back nor before its commit', async () => {
  await using house = await openHouse('sqlite');
  const { db } = house.deps;
  const { userId } = house.people.owner;
  const nameOf = async () => (await findName(db, userId))?.name;
  const before = await nameOf();

  let during: Promise<string | undefined> | undefined;
  const renamed = inTransaction(db, async (trx) => {
    await rename(trx, 'Renamed');
    during = nameOf();
    expect((await findName(trx, userId))?.name).toBe('Renamed');
    throw new Error('rolled back');
  });
  await expect(renamed).rejects.toThrow('rolled back');
  expect([await during, await nameOf()]).toEqual([before, before]);

  await inTransaction(db, async (trx) => {
    await rename(trx, 'Renamed');
    during = nameOf();
  });
  expect(await during).toBe('Renamed');
});

test('only reads skip the queue', async () => {
  await using house = await openHouse('sqlite');
  const { db } = house.deps;
  const sent = await sentWhile(db, async () => {
    await findName(db, house.people.owner.userId);
    await rename(db, 'Renamed');
  });
  expect(sent.map(({ sql: text }) => text.slice(0, 6)).toSorted()).toEqual(['select', 'update']);
});
