import { readFileSync, writeFileSync } from 'node:fs';
import { openApiDocument } from '../packages/contract/dist/index.js';

const root = new URL('../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
writeFileSync(new URL('docs/openapi.json', root), `${JSON.stringify(openApiDocument({ version }), null, 2)}\n`);
