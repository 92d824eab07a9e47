import { defineConfig } from 'vitest/config';
import { testDefaults } from '../../scripts/testing.ts';

// Pictures are read by processes of their own, which start slowly on a busy machine.
export default defineConfig({ test: { ...testDefaults, isolate: false, testTimeout: 20_000 } });
