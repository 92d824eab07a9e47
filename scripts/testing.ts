import { appendFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

const reports = process.env.TEST_REPORTS;
/** Whether this is the run of the heavy counts. */
export const big = process.env.TEST_BIG === '1';

/** Processes that tests start compile their modules once, not each time: a third of their start. */
const compileCache = resolve(import.meta.dirname, '../node_modules/.cache/review/compiled');

/** What the vitest.config.ts of every package has in common: `npm test` leaves the heavy counts to `npm run test:big`. */
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
 * For `describe.skipIf(!thing && lacking('a thing', 'how to get it'))`: the end of `npm test` names what was left out;
 * with REQUIRE_ALL=1 it is a failure.
 */
export function lacking(part: string, remedy: string): true {
  if (process.env.REQUIRE_ALL === '1') throw new Error(`REQUIRE_ALL=1, but this machine lacks ${part}: ${remedy}`);
  if (reports) appendFileSync(join(reports, 'lacking.txt'), `${part} (${remedy})\n`);
  return true;
}
