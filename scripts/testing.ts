import { appendFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

const reports = process.env.TEST_REPORTS;
/** Whether this run is `npm run test:big`. */
export const big = process.env.TEST_BIG === '1';

/** Module compile cache for the processes that tests start; it saves a third of their start-up time. */
const compileCache = resolve(import.meta.dirname, '../node_modules/.cache/review/compiled');

/** Shared by the vitest.config.ts of every package: `npm test` skips `*.big.test.ts`, `npm run test:big` runs only those. */
export const testDefaults = {
  include: [big ? '**/*.big.test.ts' : '**/*.test.ts'],
  exclude: ['**/node_modules/**', '**/dist/**', ...(big ? [] : ['**/*.big.test.ts'])],
  env: { NODE_COMPILE_CACHE: compileCache },
  expect: { requireAssertions: true },
  passWithNoTests: big,
  reporters: reports ? ['default', 'json'] : ['default'],
  ...(reports ? { outputFile: { json: join(reports, `${basename(process.cwd())}.json`) } } : {}),
};

/**
 * For `describe.skipIf(!thing && lacking('a thing', 'how to install it'))`. The summary of `npm test` lists the missing part;
 * with REQUIRE_ALL=1 it throws.
 */
export function lacking(part: string, remedy: string): true {
  if (process.env.REQUIRE_ALL === '1') throw new Error(`REQUIRE_ALL=1, but this machine lacks ${part}: ${remedy}`);
  if (reports) appendFileSync(join(reports, 'lacking.txt'), `${part} (${remedy})\n`);
  return true;
}
