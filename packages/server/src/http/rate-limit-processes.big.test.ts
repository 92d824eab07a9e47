import { expect, test } from 'vitest';
import { admittedByTwoProcesses } from '../test/shared-limit.ts';

test('the limit is exact over two processes on Postgres: of 1,000 calls of tier 2 at once, 20', async () => {
  expect(await admittedByTwoProcesses(1000, 'on')).toEqual({ admitted: 20, refused: 980 });
});

test('and with another limit: of 1,000 calls at once, 137', async () => {
  expect(await admittedByTwoProcesses(1000, 'tier-2=137')).toEqual({ admitted: 137, refused: 863 });
});
