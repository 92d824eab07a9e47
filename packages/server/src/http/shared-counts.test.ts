import { expect, onTestFinished, vi } from 'vitest';
import { LookUps } from '../db/look-ups.ts';
import { openDatabase } from '../db/open.ts';
import { openHouse, postgresTest } from '../test/house.ts';
import { sentWhile } from '../test/sent-statements.ts';
import { type Count, SharedCounts } from './shared-counts.ts';

const WINDOW_SECONDS = 60;
const consumed = (counts: { consumedPoints: number }[]) => counts.map(({ consumedPoints }) => consumedPoints);

postgresTest('concurrent changes share statements, and each has its own place in the count', async () => {
  await using house = await openHouse('postgres');
  const { db } = house.deps;
  const counts = new SharedCounts(db, WINDOW_SECONDS);
  const all: Count[] = [];
  // In the first call of a window, a second statement begins it.
  await new SharedCounts(db, WINDOW_SECONDS).add('key 0', 0);
  const statements = await sentWhile(db, async () => {
    const added = Array.from({ length: 60 }, (_, index) => counts.add(`key ${index % 2}`, 1));
    all.push(...(await Promise.all(added)));
  });
  expect(statements).toHaveLength(2);
  expect(consumed(all)).toEqual(Array.from({ length: 60 }, (_, index) => 1 + Math.floor(index / 2)));
  expect(
    consumed(await Promise.all([counts.add('key 0', 1), counts.add('key 0', -1), counts.add('key 0', 1)])),
  ).toEqual([31, 30, 31]);
});

postgresTest('two processes that change the same keys in another order never block each other', async () => {
  await using house = await openHouse('postgres');
  await using other = openDatabase({ dialect: 'postgres', url: house.databaseUrl, connections: 2 }, () => {});
  const keys = Array.from({ length: 20 }, (_, index) => `key ${index}`);
  const [first, second] = [new SharedCounts(house.deps.db, WINDOW_SECONDS), new SharedCounts(other.db, WINDOW_SECONDS)];
  const all = await Promise.all(
    Array.from({ length: 25 }).flatMap(() => [
      ...keys.map(async (key) => ({ key, ...(await first.add(key, 1)) })),
      ...keys.toReversed().map(async (key) => ({ key, ...(await second.add(key, 1)) })),
    ]),
  );
  for (const same of Map.groupBy(all, ({ key }) => key).values()) {
    expect(consumed(same).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  }
});

postgresTest('a failed statement fails its changes, and later changes count again', async () => {
  await using house = await openHouse('postgres');
  const { db } = house.deps;
  const counts = new SharedCounts(db, WINDOW_SECONDS);
  const lost = vi.spyOn(LookUps.prototype, 'add').mockRejectedValueOnce(new Error('lost'));
  await expect(counts.add('key', 1)).rejects.toThrow('lost');
  lost.mockRestore();
  expect(await counts.add('key', 1)).toMatchObject({ consumedPoints: 1 });
});

postgresTest('windows end by the clock of Postgres, whatever the clocks of the servers say', async () => {
  await using house = await openHouse('postgres');
  const { db } = house.deps;
  const counts = new SharedCounts(db, WINDOW_SECONDS);
  onTestFinished(() => void vi.useRealTimers());
  const start = Date.now();
  for (const [index, aheadMs] of [0, 600_000, -600_000].entries()) {
    vi.useFakeTimers({ toFake: ['Date'], now: start + aheadMs });
    const { consumedPoints, msBeforeNext } = await counts.add('key', 1);
    expect([consumedPoints, msBeforeNext]).toEqual([
      index + 1,
      expect.toSatisfy((ms) => ms > 0 && ms <= WINDOW_SECONDS * 1000),
    ]);
  }
});

postgresTest('a window is over that began before the clock of Postgres was set back by an hour', async () => {
  await using house = await openHouse('postgres');
  const { db } = house.deps;
  const counts = new SharedCounts(db, WINDOW_SECONDS);
  await counts.add('key', 5);
  await db
    .updateTable('rate_limits')
    .set((eb) => ({ expire: eb('expire', '+', 3_600_000) }))
    .execute();
  expect(await counts.add('key', 1)).toMatchObject({ consumedPoints: 1 });
});
