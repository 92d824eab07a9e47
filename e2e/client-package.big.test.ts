import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { Program, readOutput } from './processes.ts';
import { Service } from './service.ts';

/** The client as one file, installed offline into an empty project. */
const root = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'review-client-package-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, content: string) => writeFileSync(join(folder, name), content);

/** What a registry would serve. */
const fromRegistry = Object.fromEntries(
  [
    ['zod', 'contract'],
    ['@ts-rest/core', 'contract'],
    ['@noble/hashes', 'client'],
  ].map(([name, owner]) => [name, `file:${realpathSync(join(root, 'packages', `${owner}/node_modules/${name}`))}`]),
);

beforeAll(async () => {
  const packed = await readOutput(process.execPath, [join(root, 'scripts/package-client.ts'), folder]);
  write(
    'package.json',
    JSON.stringify({ private: true, type: 'module', dependencies: { '@review/client': `file:${packed.trim()}` } }),
  );
  // JSON is YAML.
  write('pnpm-workspace.yaml', JSON.stringify({ packages: [], overrides: fromRegistry }));
  await readOutput('pnpm', ['--dir', folder, 'install', '--offline', '--ignore-scripts']);
});

/** Compiles the program with all declarations that it uses, and returns the errors. */
async function compile(program: string): Promise<string> {
  write('program.ts', program);
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    strict: true,
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
  };
  write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  await using tsc = new Program(join(root, 'node_modules/.bin/tsc'), ['--project', folder], {});
  await tsc.exit;
  return tsc.output;
}

const PROGRAM = `
import { ApiProblem, createClient, items, upload } from '@review/client';

const [baseUrl = '', token = ''] = process.argv.slice(2);
declare const process: { argv: string[] };
const client = createClient({ baseUrl, token });
const { data: project } = await client.projects.create({ body: { name: 'Film' } });
const id: string = project.id;
const { id: file } = await upload(client, { to: { project: id, kind: 'file' }, source: new Uint8Array(3), name: 'a.bin' });
for await (const found of items(client.files.list, { params: { id } })) {
  const name: string = found.name;
  console.log(name, found.id === file);
}
await client.files.delete({ params: { id: file } });
const refused: unknown = await client.files.get({ params: { id: file } }).catch((error: unknown) => error);
console.log(refused instanceof ApiProblem && refused.status);
`;

test('a program compiles without skipLibCheck and uses a service', async () => {
  expect(await compile(PROGRAM)).toBe('');
  await using service = await Service.start();
  expect(await readOutput(process.execPath, [join(folder, 'program.js'), service.url, service.key])).toBe(
    'a.bin true\n404\n',
  );
});

test('calls with errors do not compile', async () => {
  const wrong = [
    'client.projects.create({ body: { name: 1 } })',
    "client.projects.create({ body: { name: 'Film', nme: 'x' } })",
    "client.files.get({ params: { identifier: 'x' } })",
    'client.projects.destroy()',
    "(await client.files.delete({ params: { id: 'x' } })).data",
  ];
  const errors = await compile(`import { createClient } from '@review/client';
const client = createClient({ baseUrl: 'https://review.example.com', token: 'x' });
export const answers = [
${wrong.map((call) => `await ${call},`).join('\n')}
];`);
  expect(Array.from(errors.matchAll(/program\.ts\((\d+),\d+\): error TS/g), ([, line]) => line)).toEqual(
    wrong.map((_, index) => String(index + 4)),
  );
  expect(errors.match(/error TS/g)).toHaveLength(wrong.length);
});

test('every package has the licence of the repository', async () => {
  const Manifest = z.object({ license: z.literal('SEE LICENSE IN LICENSE') });
  const licensed = (path: string) => Manifest.parse(JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')));
  for (const name of ['client', 'contract', 'server', 'worker']) licensed(`packages/${name}`);
  for (const path of ['.', 'apps/dev-console', 'e2e']) licensed(path);
  const installed = readFileSync(join(folder, 'node_modules/@review/client/LICENSE'), 'utf8');
  expect(installed).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'));
});
