import { defineConfig } from 'vitest/config';
import { slowFilesFirst } from '../../scripts/slow-files-first.ts';
import { big, testDefaults, writeToMemory } from '../../scripts/testing.ts';

// The tests of test:big write objects of a GiB each.
writeToMemory(big ? 16 : 4);

export default defineConfig({
  // Three files at a time even on two cores, because they wait for the database; two where they fill the memory.
  test: {
    ...testDefaults,
    maxWorkers: big ? 2 : 3,
    // Each file has a house of its own; loading the modules anew for each took a fifth of the time.
    isolate: false,
    sequence: {
      sequencer: slowFilesFirst(
        '/final-states.big.test.ts',
        '/storage.big.test.ts',
        '/stream.test.ts',
        '/wait.test.ts',
        '/wait-settings.test.ts',
        '/rotation.test.ts',
        '/pdf.test.ts',
      ),
    },
    globalSetup: ['src/test/postgres.ts'],
  },
});
