import { defineConfig } from 'vitest/config';
import { testDefaults } from '../../scripts/testing.ts';

export default defineConfig({
  test: { ...testDefaults, globalSetup: ['src/test/postgres.ts'], testTimeout: 30_000, hookTimeout: 60_000 },
});
