import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sizingPage } from '../scripts/sizing.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

test('docs/sizing.md is computed from docs/benchmarks.md (`npm run snapshot` after a change)', () => {
  expect(read('docs/sizing.md')).toBe(sizingPage(read('docs/benchmarks.md')));
});

test('a figure that is missing is named', () => {
  const benchmarks = read('docs/benchmarks.md');
  expect(() => sizingPage(benchmarks.replaceAll('get file', 'get document'))).toThrow(
    'has no "get file" with CPU µs, with Postgres under "## Results"',
  );
  expect(() => sizingPage(benchmarks.replace('### Event streams', '### Streams'))).toThrow(
    'no section "### Event streams"',
  );
});
