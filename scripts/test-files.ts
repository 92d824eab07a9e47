// `npm test -- <room or file>`: only the test files whose path contains a word, on SQLite unless they ask for Postgres.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { relative, resolve } from 'node:path';
import { big } from './testing.ts';

const repository = resolve(import.meta.dirname, '..');
const onBoth = process.argv.includes('--both');
const args = process.argv.slice(2).filter((word) => word !== '--both');
const firstFlag = args.findIndex((word) => word.startsWith('-'));
const words = firstFlag === -1 ? args : args.slice(0, firstFlag);
/** For Vitest. The value of an option can look like a name: `-t 'part of a title'`. */
const flags = args.slice(words.length);

/** Files in e2e start whole processes: they are meant only where a word names them or the folder. */
const isMeant = (path: string) =>
  words.some((word) => path.includes(word) && (!path.startsWith('e2e/') || /e2e|\.test/.test(word)));

const files = globSync('{packages/*/src/**,e2e}/*.test.ts', { cwd: repository }).filter(
  (path) => isMeant(path) && path.endsWith('.big.test.ts') === big,
);
if (files.length === 0) {
  const cause =
    words.length === 0
      ? 'Names of tests come before the options.'
      : `No test file has "${words.join('" or "')}" in its path.`;
  console.error(`${cause} Name a room (comments), a folder (server/src/http) or a file.`);
  process.exit(1);
}

/** Each worker loads all modules of the package, which takes as long as the tests of two files. */
const FILES_PER_WORKER = 2;
const MAX_WORKERS = availableParallelism();

const packageOf = (path: string) => (path.startsWith('e2e/') ? 'e2e' : path.split('/').slice(0, 2).join('/'));
for (const [folder, paths = []] of Object.entries(Object.groupBy(files, packageOf))) {
  const needsPostgres = onBoth || paths.some((path) => readFileSync(path, 'utf8').includes('postgresUrl'));
  const workers = Math.min(MAX_WORKERS, Math.ceil(paths.length / FILES_PER_WORKER));
  const selected = paths.map((path) => relative(folder, path));
  const vitest = spawn('vitest', ['run', `--maxWorkers=${workers}`, ...selected, ...flags], {
    cwd: resolve(repository, folder),
    env: { ...process.env, TEST_DATABASES: needsPostgres || folder === 'e2e' ? 'sqlite postgres' : 'sqlite' },
    stdio: 'inherit',
  });
  const [code] = await once(vitest, 'close');
  process.exitCode ||= code;
}
