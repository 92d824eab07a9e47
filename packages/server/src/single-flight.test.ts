import { expect, test } from 'vitest';
import { singleFlight } from './single-flight.ts';

test('concurrent calls share one run and its error; a later call runs again', async () => {
  let runs = 0;
  const call = singleFlight(async () => {
    runs += 1;
    if (runs === 2) throw new Error('the second');
    return runs;
  });
  expect(await Promise.all([call(), call(), call()])).toEqual([1, 1, 1]);
  const failed = await Promise.allSettled([call(), call()]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect([await call(), runs]).toEqual([3, 3]);
});
