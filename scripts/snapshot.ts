import { readFileSync, writeFileSync } from 'node:fs';
import { openApiDocument } from '../packages/contract/dist/index.js';
import { sizingPage } from './sizing.ts';

const root = new URL('../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
for (const [file, openapi] of [
  ['docs/openapi.json', '3.2.0'],
  ['docs/openapi-3.1.json', '3.1.1'],
] as const) {
  writeFileSync(new URL(file, root), `${JSON.stringify(openApiDocument({ version, openapi }), null, 2)}\n`);
}

const benchmarks = readFileSync(new URL('docs/benchmarks.md', root), 'utf8');
writeFileSync(new URL('docs/sizing.md', root), sizingPage(benchmarks));
