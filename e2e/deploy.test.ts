import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';

const root = resolve(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const Manifest = z.object({ packageManager: z.string(), scripts: z.record(z.string(), z.string()) });
const manifest = Manifest.parse(JSON.parse(read('package.json')));

test('the images start the server with its Node options and are built by the package manager of the repository', () => {
  const image = read('deploy/Dockerfile');
  const flags = z.array(z.string()).parse(JSON.parse(read('packages/server/node-flags.json')));
  expect(image).toContain(
    `ENTRYPOINT [${['node', ...flags, '/app/server/dist/main.js'].map((word) => JSON.stringify(word)).join(', ')}]`,
  );
  expect(image).toContain(`npm install --global ${manifest.packageManager}`);
});

test('the guide names files, scripts and sections that exist', () => {
  const guide = read('docs/self-hosting.md');
  const all = (pattern: RegExp) => [...new Set(Array.from(guide.matchAll(pattern), ([, name = '']) => name))];
  const files = all(/(?<![\w/.-])(deploy\/[\w./-]*\w)/g).filter(
    (file) => !/\.(env|pem)$/.test(file) && file !== 'deploy/review-server',
  );
  expect(files.length).toBeGreaterThan(8);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  expect(all(/npm run ([\w:]+)/g).filter((script) => !(script in manifest.scripts))).toEqual([]);
  const anchors = Array.from(guide.matchAll(/^#+ (.*)$/gm), ([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  expect(all(/\]\(#([\w-]+)\)/g).filter((anchor) => !anchors.includes(anchor))).toEqual([]);
});

test('the guide sets every variable that the compose files require', () => {
  const guide = read('docs/self-hosting.md');
  for (const file of ['deploy/compose.yaml', 'deploy/compose.full.yaml']) {
    const required = Array.from(read(file).matchAll(/\$\{(\w+):\?/g), ([, name = '']) => name);
    const commands =
      new RegExp(`\`${file}\`.*?\`\`\`sh\n(.*?)\`\`\``, 's').exec(guide.slice(guide.indexOf('## One box')))?.[1] ?? '';
    expect(required.length).toBeGreaterThan(2);
    expect(required.filter((name) => !commands.includes(name))).toEqual([]);
  }
});
