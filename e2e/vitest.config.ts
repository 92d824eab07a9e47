import { defineConfig } from 'vitest/config';
import { slowFilesFirst } from '../scripts/slow-files-first.ts';
import { big, testDefaults, writeToMemory } from '../scripts/testing.ts';

// The tests of test:big use the disk, as in production.
if (!big) writeToMemory(4);

export default defineConfig({
  test: {
    ...testDefaults,
    globalSetup: ['../packages/server/src/test/postgres.ts'],
    // Tests start processes that mostly wait for each other, those of test:big also for back-offs and leases.
    maxWorkers: big ? 4 : 2,
    // Each test starts its own processes; a new process per file, which loads all modules again, takes more than a second each.
    isolate: big,
    sequence: {
      sequencer: slowFilesFirst(
        // The first measures times: it runs beside two that mostly wait.
        ...['/console-live.big.test.ts', '/webhooks.big.test.ts', '/temporal-workers.big.test.ts'],
        ...['/images.big.test.ts', '/fuzz.big.test.ts', '/console-pages.big.test.ts', '/events.big.test.ts'],
      ),
    },
    ...(big ? { testTimeout: 180_000 } : {}),
  },
});
