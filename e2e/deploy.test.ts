import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';

const root = resolve(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const Manifest = z.object({ packageManager: z.string() });

test('the images start the server with its Node options and are built by the package manager of the repository', () => {
  const image = read('deploy/Dockerfile');
  const flags = z.array(z.string()).parse(JSON.parse(read('packages/server/node-flags.json')));
  expect(image).toContain(
    `ENTRYPOINT [${['node', ...flags, '/app/server/dist/main.js'].map((word) => JSON.stringify(word)).join(', ')}]`,
  );
  expect(image).toContain(`npm install --global ${Manifest.parse(JSON.parse(read('package.json'))).packageManager}`);
});
