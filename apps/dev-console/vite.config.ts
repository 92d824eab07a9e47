import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { firstLoad } from './first-load.ts';
import { withoutSchemas } from './without-schemas.ts';

const server = process.env['SERVER_URL'] ?? 'http://127.0.0.1:3000';
const local = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const anyOf = (...patterns: string[]) => new RegExp(patterns.join('|'));
const proxied = ['/api', '/blobs', '/docs', '/mcp', '/problems', '/readyz'];
const MANTINE = '/@mantine/core/esm/components/';

/**
 * A request costs more time than some code that its page does not use, so a page should load few chunks. Each group also takes what its
 * modules import, unless a group above has it; thus chunks import only from chunks above them.
 */
const CHUNKS = [
  // What every page needs of other packages, which an upgrade of the service seldom changes.
  {
    name: 'shell',
    test: anyOf(
      '/node_modules/(react|react-dom|scheduler|clsx|use-sync-external-store|@tanstack/[^/]+|@mantine/hooks)/',
      '/@mantine/core/esm/core/',
      `${MANTINE}(ActionIcon|Anchor|Badge|Button|CloseButton|Group|Input|InputBase|Loader|NativeSelect|PasswordInput)/`,
      `${MANTINE}(Progress|Skeleton|Stack|Text|TextInput|Title|Transition|UnstyledButton|VisuallyHidden)/`,
    ),
  },
  {
    name: 'start',
    test: anyOf(
      '/src/(main\\.tsx|bounds\\.ts|live/use-live\\.ts)$',
      '/src/(session|files/media)/',
      '/src/(files|models|projects|versions)/([a-z]+-)?quer(y|ies)\\.ts$',
      '/src/ui/(?!action-item|long-list|status-choice|with-hint|.*dialog|.*markdown)',
    ),
  },
  {
    name: 'schemas',
    test: anyOf('/zod/v4/', '/contract/dist/[^?]+$', '/client/dist/events\\.js$', '/src/live/follow\\.ts$'),
  },
  {
    name: 'controls',
    test: anyOf('/@mantine/core/', '/client/dist/upload\\.js$', '/src/ui/(?!.*markdown)'),
    minShareCount: 2,
  },
  {
    name: 'review',
    test: anyOf(
      '/src/(attachments|comments|reactions|review)/',
      '/src/files/(viewer|viewers/(audio|image|stage|video))\\.tsx$',
    ),
  },
  { name: 'generation', test: '/src/generation/', minShareCount: 2 },
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
        codeSplitting: { groups: CHUNKS },
      },
    },
  },
});
