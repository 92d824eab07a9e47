import { defineConfig } from 'vitest/config';
import { big, testDefaults, writeToMemory } from '../scripts/testing.ts';

// The tests of test:big use the disk, as in production.
if (!big) writeToMemory(4);

export default defineConfig({
  test: {
    ...testDefaults,
    globalSetup: ['../packages/server/src/test/postgres.ts'],
    // Tests start processes that mostly wait for each other, so two files run at a time.
    maxWorkers: 2,
    // Tests of test:big wait for back-offs and leases, and start several processes each.
    testTimeout: big ? 180_000 : 60_000,
    hookTimeout: 60_000,
    expect: { ...testDefaults.expect, poll: { timeout: 20_000 } },
  },
});
