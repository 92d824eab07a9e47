import { appendFileSync, chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { cacheDirectory } from './temporal.ts';

const reports = process.env.TEST_REPORTS;
/** Whether this run is `npm run test:big`. */
export const big = process.env.TEST_BIG === '1';

/** Module compile cache for the processes that tests start; it saves a third of their start-up time. */
const compileCache = resolve(import.meta.dirname, '../node_modules/.cache/review/compiled');

const MEMORY = '/dev/shm';

/** Shared by the vitest.config.ts of every package: `npm test` skips `*.big.test.ts`, `npm run test:big` runs only those. */
export const testDefaults = {
  include: [big ? '**/*.big.test.ts' : '**/*.test.ts'],
  exclude: ['**/node_modules/**', '**/dist/**', ...(big ? [] : ['**/*.big.test.ts'])],
  env: { NODE_COMPILE_CACHE: compileCache },
  // Node loads the modules, with its compile cache, once per worker without `isolate`: a room's tests take a quarter less time.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  // Long enough for a machine that is busy with other work. Bounds of the service itself are asserted by its tests.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { requireAssertions: true, poll: { timeout: 60_000 } },
  // Files of a worker share their modules.
  restoreMocks: true,
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

/**
 * Places the temporary files of this run in memory if that many GiB are available there: flushing databases and uploads to a disk
 * took a third of the time. `TMPDIR` selects another folder. For a `vitest.config.ts`.
 */
export function writeToMemory(neededGiB: number): void {
  if (process.env.TMPDIR || availableBytes() < neededGiB * 1024 ** 3) return;
  // It is a subfolder of TMPDIR by default.
  process.env.REVIEW_CACHE_DIR = cacheDirectory();
  const folder = mkdtempSync(join(MEMORY, 'review-test-'));
  // Postgres runs as another user.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

function availableBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, freemem());
  } catch {
    return 0;
  }
}
