import { defineConfig } from 'vitest/config';
import { testDefaults } from '../../scripts/testing.ts';

// Tests replace the module that waits, which only the module runner can do.
export default defineConfig({ test: { ...testDefaults, experimental: { viteModuleRunner: true } } });
