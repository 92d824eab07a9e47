// Runs the tasks of package.json with plain npm: fetches Node and pnpm where needed, installs, builds, runs.
// Plain JavaScript without dependencies: it must run on Node 20 in a fresh clone.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fetchTools, platforms } from './fetch-tools.mjs';
import { withLock } from './lock.mjs';
import { forwardSignals, mustRun, root, run, stoppedBy } from './run.mjs';
import { summarize } from './test-summary.mjs';

const tools = join(root, '.tools');
const cache = join(root, 'node_modules', '.cache', 'review');

/** @typedef {{ node: string, environment: NodeJS.ProcessEnv }} Ready */

/** @type {Record<string, (ready: Ready, args: string[]) => Promise<number>>} */
const tasks = {
  start: afterBuild((ready) => run(ready.node, ['scripts/dev.ts'], ready)),
  server: afterBuild((ready, args) =>
    run(ready.node, [...serverFlags(), 'packages/server/dist/main.js', ...args], ready),
  ),
  worker: afterBuild((ready, args) => run(ready.node, ['packages/worker/dist/main.js', ...args], ready)),
  review: afterBuild((ready, args) =>
    run(ready.node, ['packages/server/dist/commands/main.js', ...args, ...jsonTakenByNpm(args)], ready),
  ),
  snapshot: afterBuild((ready, args) => run(ready.node, ['scripts/snapshot.ts', ...args], ready)),
  release: afterBuild((ready) => run(ready.node, ['scripts/release.ts'], ready)),
  benchmark: afterBuild((ready, args) => run(ready.node, ['packages/server/benchmark/main.ts', ...args], ready)),
  chaos: afterBuild((ready, args) => run(ready.node, ['scripts/chaos.ts', ...args], ready)),
  fuzz: (ready, args) => {
    const environment = { FUZZ_REQUESTS: '1000', ...ready.environment, TEST_BIG: '1' };
    return testFiles({ ...ready, environment }, ['e2e/fuzz.big.test.ts', ...args]);
  },
  drill: afterBuild((ready, args) => run(ready.node, ['scripts/drill.ts', ...args], ready)),
  package: afterBuild((ready, args) => run(ready.node, ['scripts/package.ts', ...args], ready)),
  'package:client': afterBuild((ready, args) => run(ready.node, ['scripts/package-client.ts', ...args], ready)),
  temporal: (ready, args) => run(ready.node, ['scripts/temporal.ts', ...args], ready),
  build: (ready, args) => run('turbo', ['run', 'build', '--output-logs=new-only', ...args], ready),
  format: (ready) => run('biome', ['check', '--write', '.'], ready),
  dev: afterBuild((ready) => run(ready.node, ['scripts/dev.ts', '--watch'], ready)),
  check: (ready, [name, ...args]) => {
    const filter = name === undefined ? [] : [`--filter=@review/${name}`];
    return run('turbo', ['run', 'build', 'lint', '--output-logs=new-only', ...filter, ...args], ready);
  },
  test: (ready, args) =>
    args.some((word) => !word.startsWith('-'))
      ? testFiles(ready, args)
      : test(ready, ['build', 'lint', 'test', `--concurrency=${parallelTasks()}`, ...args]),
  'test:big': (ready, args) =>
    test({ ...ready, environment: { ...ready.environment, TEST_BIG: '1' } }, [
      'build',
      'test',
      '--concurrency=1',
      ...args,
    ]),
};

forwardSignals();
process.exitCode = await main(process.argv[2] ?? '', process.argv.slice(3));

/**
 * @param {string} name
 * @param {string[]} args
 */
async function main(name, args) {
  const task = tasks[name];
  if (!task) {
    log(`task "${name}" is unknown; use one of: ${Object.keys(tasks).join(', ')}`);
    return 2;
  }
  try {
    return await task(await prepare(), args);
  } catch (error) {
    if (!stoppedBy) log(error instanceof Error ? error.message : String(error));
    return stoppedBy ? 128 + constants.signals[stoppedBy] : 1;
  }
}

/** @returns {Promise<Ready>} */
async function prepare() {
  const platform = Object.entries(platforms).find(([name]) => name === `${process.platform}-${process.arch}`)?.[1];
  if (!platform) {
    throw new Error(
      `${process.platform} ${process.arch} is not supported; supported platforms: ${Object.keys(platforms).join(', ')}`,
    );
  }
  const nodePackage = join(tools, 'node_modules', platform.node.name);
  const useSystemNode = isGoodNode(process.versions.node);
  const node = useSystemNode ? process.execPath : join(nodePackage, 'bin', 'node');
  const nodeVersion = useSystemNode ? process.versions.node : platform.node.version;
  const environment = cleanEnvironment([dirname(node), join(tools, 'node_modules', platform.pnpm.name)]);

  // npm removes packages that a later call does not name, so an installed Node stays in the list.
  const wanted = [platform.pnpm, ...(useSystemNode && !existsSync(nodePackage) ? [] : [platform.node])];
  mkdirSync(tools, { recursive: true });
  await withLock(join(tools, 'lock'), log, async () => {
    await fetchTools(wanted, tools, environment, log);
    await install(`node ${nodeVersion} pnpm ${platform.pnpm.version}`, platform.binaries, environment);
  });
  return { node, environment };
}

/**
 * Returns the options of Node for the server, which only the command line can set.
 * @returns {string[]}
 */
function serverFlags() {
  return JSON.parse(readFileSync(join(root, 'packages/server/node-flags.json'), 'utf8'));
}

/** @param {string} version */
function isGoodNode(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return (major === 22 && minor >= 18) || major === 24 || major >= 26;
}

/**
 * @param {string} versions
 * @param {string[]} binaries
 * @param {NodeJS.ProcessEnv} environment
 */
async function install(versions, binaries, environment) {
  const stamp = join(cache, 'installed.txt');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === manifestHash(versions)) return;
  const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8');
  const missing = binaries.filter((name) => !lockfile.includes(`'${name}@`));
  if (missing.length > 0) {
    log(
      `pnpm-lock.yaml lacks ${missing.join(', ')}: installing without --frozen-lockfile, which may change the lockfile`,
    );
  } else {
    log('installing packages ...');
  }
  const how = missing.length > 0 ? ['--no-frozen-lockfile', '--fix-lockfile'] : ['--frozen-lockfile'];
  await mustRun('pnpm', ['install', ...how, '--reporter=append-only'], environment);
  mkdirSync(cache, { recursive: true });
  writeFileSync(stamp, manifestHash(versions));
}

/** @param {string} versions */
function manifestHash(versions) {
  const hash = createHash('sha256').update(versions);
  const workspaces = ['packages', 'apps'].flatMap((folder) =>
    existsSync(join(root, folder)) ? readdirSync(join(root, folder)).map((name) => join(folder, name)) : [],
  );
  for (const folder of ['.', ...workspaces.sort(), 'e2e']) {
    const manifest = join(root, folder, 'package.json');
    if (existsSync(manifest)) hash.update(folder).update(readFileSync(manifest));
  }
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) hash.update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

/**
 * The environment for child processes, with `directories` first on the PATH. Drops the variables that npm sets about itself
 * and its Node, except those that configure the registry.
 * @param {string[]} directories
 * @returns {NodeJS.ProcessEnv}
 */
function cleanEnvironment(directories) {
  const keep =
    /^npm_config_(registry|ca|cafile|cert|key|strict_ssl|userconfig|globalconfig|cache|(https_)?proxy|noproxy|.*[/:].*)$/i;
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => name !== 'NODE' && name !== 'INIT_CWD' && (!/^npm_/i.test(name) || keep.test(name)),
    ),
  );
  return {
    ...environment,
    PATH: [...directories, join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter),
    TURBO_TELEMETRY_DISABLED: '1',
    // Keeps compiled modules for the next start of server and worker.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(cache, 'compiled'),
    // The bootstrap has just installed; pnpm's own check before each script would run in parallel and race.
    pnpm_config_verify_deps_before_run: 'false',
  };
}

/**
 * @param {(ready: Ready, args: string[]) => Promise<number>} task
 * @returns {(ready: Ready, args: string[]) => Promise<number>}
 */
function afterBuild(task) {
  return async (ready, args) => {
    const code = await withLock(join(tools, 'lock'), log, () => buildQuietly(ready));
    return code === 0 ? task(ready, args) : code;
  };
}

/**
 * Builds all packages. Prints the output only on failure, and to stderr, because stdout belongs to the task.
 * @param {Ready} ready
 */
async function buildQuietly(ready) {
  const started = Date.now();
  const progress = setInterval(() => log(`building ... ${Math.round((Date.now() - started) / 1000)} s`), 2000);
  let output = '';
  try {
    const code = await run(
      'turbo',
      ['run', 'build', '--output-logs=new-only'],
      ready,
      ['ignore', 'pipe', 'pipe'],
      (text) => {
        output += text;
      },
    );
    if (code !== 0 && !stoppedBy) process.stderr.write(`${output}\n`);
    return code;
  } finally {
    clearInterval(progress);
  }
}

/**
 * @param {Ready} ready
 * @param {string[]} args
 */
function testFiles(ready, args) {
  return afterBuild(() => run(ready.node, ['scripts/test-files.ts', ...args], ready))(ready, args);
}

/**
 * @param {Ready} ready
 * @param {string[]} args
 */
async function test(ready, args) {
  mkdirSync(cache, { recursive: true });
  const reports = mkdtempSync(join(cache, 'test-'));
  const environment = { ...ready.environment, TEST_REPORTS: reports };
  try {
    // A failing package must not hide the results of the others.
    const flags = ['--continue=dependencies-successful', '--output-logs=new-only'];
    const code = await run('turbo', ['run', ...args, ...flags], { ...ready, environment });
    if (stoppedBy) return code;
    const { text, failed } = summarize(reports, code);
    console.log(text);
    // A failed test fails the run even if turbo exits with 0.
    return failed > 0 && code === 0 ? 1 : code;
  } finally {
    rmSync(reports, { recursive: true, force: true });
  }
}

function parallelTasks() {
  return Math.max(2, Math.floor(availableParallelism() / 2));
}

/**
 * npm consumes the flag of `npm run review --json -- ...`, so it is read from npm's environment.
 * @param {string[]} args
 */
function jsonTakenByNpm(args) {
  return process.env.npm_config_json === 'true' && !args.includes('--json') ? ['--json'] : [];
}

/** @param {string} line */
function log(line) {
  console.error(`bootstrap: ${line}`);
}
