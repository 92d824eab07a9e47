import { defineConfig } from 'vitest/config';
import { testDefaults } from '../../scripts/testing.ts';

export default defineConfig({
  // Two files at a time even on two cores: they mostly wait for the database.
  test: {
    ...testDefaults,
    maxWorkers: 2,
    // Each file has a house of its own; loading the modules anew for each took a fifth of the time.
    isolate: false,
    globalSetup: ['src/test/postgres.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
