import { defineConfig } from 'vitest/config';
import { testDefaults } from '../scripts/testing.ts';

export default defineConfig({
  test: {
    ...testDefaults,
    globalSetup: ['../packages/server/src/test/postgres.ts'],
    // Tests start processes that mostly wait for each other, so two files run at a time.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { ...testDefaults.expect, poll: { timeout: 20_000 } },
  },
});
