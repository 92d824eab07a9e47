import { defineConfig } from 'vitest/config';
import { testDefaults } from '../../scripts/testing.ts';

export default defineConfig({ test: { ...testDefaults } });
