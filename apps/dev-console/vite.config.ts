import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { firstLoad } from './first-load.ts';

const server = process.env['SERVER_URL'] ?? 'http://127.0.0.1:3000';
const proxied = ['/api', '/blobs', '/docs', '/mcp', '/problems', '/readyz'];

export default defineConfig({
  plugins: [react(), firstLoad(['sign-in/page.tsx', 'generation/runs-page.tsx', 'projects/list-page.tsx'])],
  resolve: {
    alias: {
      '@ts-rest/core': fileURLToPath(new URL('src/ts-rest.ts', import.meta.url)),
      // The browser build needs `document`, which the Web Worker that parses Markdown does not have.
      'decode-named-character-reference': fileURLToPath(import.meta.resolve('decode-named-character-reference')),
    },
  },
  worker: { format: 'es' },
  server: { proxy: Object.fromEntries(proxied.map((path) => [path, server])) },
  build: {
    rolldownOptions: {
      output: {
        // One chunk keeps the import order: content-policy.ts must configure zod before the contract builds its schemas.
        codeSplitting: {
          groups: [{ name: 'contract', test: /content-policy|\/zod\/|\/packages\/contract\// }],
        },
      },
    },
  },
});
