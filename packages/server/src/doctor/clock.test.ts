import { afterEach, expect, test, vi } from 'vitest';
import { openOnFauxqs } from '../storage/test/drivers.ts';
import { DIALECTS, openHouse } from '../test/house.ts';
import { checkClock } from './clock.ts';

afterEach(() => {
  vi.useRealTimers();
});

test.each(DIALECTS)('%s: a clock of S3 or Postgres that differs from this host is found', async (dialect) => {
  await using house = await openHouse(dialect);
  await using s3 = await openOnFauxqs();
  const deps = { ...house.deps, storage: s3.storage };
  const names = dialect === 'postgres' ? ['Postgres', 'S3'] : ['S3'];
  expect((await checkClock(deps)).map(({ status }) => status)).toEqual(names.map(() => 'ok'));

  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 });
  const found = await checkClock(deps);
  expect(found.map(({ status }) => status)).toEqual(names.map(() => 'failed'));
  for (const [index, name] of names.entries()) {
    expect(found[index]?.message).toMatch(new RegExp(`^The clock of ${name} is 1\\d\\d s behind this host's\\.$`));
  }
});

test('the clock of the host is enough for SQLite and the disk', async () => {
  await using house = await openHouse('sqlite');
  expect(await checkClock(house.deps)).toMatchObject([{ status: 'ok' }]);
});
