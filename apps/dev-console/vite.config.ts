import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { firstLoad } from './first-load.ts';
import { withoutSchemas } from './without-schemas.ts';

const server = process.env['SERVER_URL'] ?? 'http://127.0.0.1:3000';
const local = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const proxied = ['/api', '/blobs', '/docs', '/mcp', '/problems', '/readyz'];
const SHELL = [
  '/node_modules/(react|react-dom|scheduler|clsx|use-sync-external-store|@tanstack/[^/]+)/',
  '/@mantine/core/esm/core/',
  '/@mantine/core/esm/components/(Button|CloseButton|Group|Input|InputBase|Loader|NativeSelect|Progress|Skeleton)/',
  '/@mantine/core/esm/components/(Stack|Text|Title|Transition|UnstyledButton)/',
];

export default defineConfig({
  plugins: [
    react(),
    withoutSchemas(),
    firstLoad(['sign-in/page.tsx', 'generation/runs-page.tsx', 'projects/list-page.tsx']),
  ],
  resolve: {
    alias: [
      { find: '@ts-rest/core', replacement: local('src/ts-rest.ts') },
      {
        find: /^\.\.\/core\/(json-schema-processors|to-json-schema)\.js$/,
        replacement: local('src/zod-json-schema.ts'),
      },
      {
        find: 'decode-named-character-reference',
        // The browser build needs `document`, which the Web Worker that parses Markdown does not have.
        replacement: fileURLToPath(import.meta.resolve('decode-named-character-reference')),
      },
    ],
  },
  worker: { format: 'es' },
  server: { proxy: Object.fromEntries(proxied.map((path) => [path, server])) },
  build: {
    rolldownOptions: {
      // zod-json-schema.ts lacks most exports; for our own imports the compiler checks this.
      checks: { importIsUndefined: false },
      output: {
        // One chunk with what every page needs: it compresses better than forty small ones.
        codeSplitting: { groups: [{ name: 'shell', test: new RegExp(SHELL.join('|')) }] },
      },
    },
  },
});
