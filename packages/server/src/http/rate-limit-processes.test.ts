import { expect } from 'vitest';
import { postgresTest } from '../test/house.ts';
import { admittedByTwoProcesses } from '../test/shared-limit.ts';

postgresTest('the limit is exact over two processes on Postgres: of 200 calls at once, 20', async () => {
  expect(await admittedByTwoProcesses(200, 'on')).toEqual({ admitted: 20, refused: 180 });
});
