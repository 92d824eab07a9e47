import { defineConfig } from 'vitest/config';
import { testDefaults, writeToMemory } from '../../scripts/testing.ts';

writeToMemory(4);

export default defineConfig({
  test: {
    ...testDefaults,
    // Two files at a time even on two cores: they mostly wait for processes and doubles.
    maxWorkers: 2,
    isolate: false,
  },
});
