import { defineConfig } from 'vitest/config';
import { testDefaults } from '../../scripts/testing.ts';

export default defineConfig({
  // Two files at a time even on two cores: they mostly wait for the database.
  test: {
    ...testDefaults,
    maxWorkers: 2,
    globalSetup: ['src/test/postgres.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
