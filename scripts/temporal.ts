// Finds, installs and runs a Temporal server for development and tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findProgram, isExecutable } from './find-program.ts';
import { withLock } from './lock.mjs';

// The last tag that `go install` accepts: the go.mod of later ones has a `replace` directive.
const cliVersion = '1.5.1';
const installMinutes = 15;
const repository = resolve(import.meta.dirname, '..');

export type Temporal =
  | { readonly from: 'TEMPORAL_ADDRESS'; readonly address: string }
  | { readonly from: 'PATH' | 'cache'; readonly binary: string };

/** The machine-wide cache for downloads, outside any clone and independent of HOME. */
export function cacheDirectory(): string {
  return process.env.REVIEW_CACHE_DIR || join(tmpdir(), 'project-review-cache');
}

/** Finds an installed or running Temporal server. Never downloads or builds one. */
export function findTemporal(): Temporal | undefined {
  const address = process.env.TEMPORAL_ADDRESS;
  if (address) return { from: 'TEMPORAL_ADDRESS', address };
  const onPath = findProgram(['temporal']);
  if (onPath !== undefined) return { from: 'PATH', binary: onPath };
  const binary = cachedBinary();
  return isExecutable(binary) && isOurs(binary) ? { from: 'cache', binary } : undefined;
}

/** Downloads or builds the binary into the cache and returns its path. Safe for concurrent processes. */
export async function installTemporal(log: (line: string) => void, stop: AbortSignal): Promise<string> {
  mkdirSync(cacheDirectory(), { recursive: true });
  // The lock only avoids duplicate work; the atomic rename makes concurrent installs safe.
  return withLock(`${cachedBinary()}.lock`, log, () => installAlone(log, stop), stop);
}

async function installAlone(log: (line: string) => void, stop: AbortSignal): Promise<string> {
  const target = cachedBinary();
  if (isExecutable(target) && isOurs(target)) return target;
  // Leftovers of a killed process: while the lock is held, no other process uses these folders.
  for (const name of readdirSync(cacheDirectory()).filter((entry) => entry.startsWith('temporal-new-'))) {
    await rm(join(cacheDirectory(), name), { recursive: true, force: true });
  }
  const staging = await mkdtemp(join(cacheDirectory(), 'temporal-new-'));
  try {
    const binary = await installBinary(staging, log, stop);
    await rename(binary, target);
    log(`installed in ${target}`);
    return target;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function installBinary(staging: string, log: (line: string) => void, stop: AbortSignal): Promise<string> {
  const timeout = AbortSignal.timeout(installMinutes * 60_000);
  const limit = AbortSignal.any([timeout, stop]);
  const failures: string[] = [];
  for (const way of [download, buildWithGo]) {
    try {
      const binary = await way(staging, limit, log);
      log((await output(binary, ['--version'])).trim());
      return binary;
    } catch (error) {
      const reason = timeout.aborted ? `timed out after ${installMinutes} minutes` : describe(error);
      log(`attempt failed: ${reason}`);
      failures.push(reason);
      if (limit.aborted) break;
    }
  }
  throw new Error(
    `a Temporal server could not be installed (${failures.join('; ')}): install the Temporal CLI or set TEMPORAL_ADDRESS`,
  );
}

function cachedBinary(): string {
  return join(cacheDirectory(), `temporal-${cliVersion}-${process.platform}-${process.arch}`);
}

// The default cache is in a world-writable folder: only binaries owned by this user or root are run.
function isOurs(path: string): boolean {
  const owner = statSync(path).uid;
  return owner === 0 || owner === process.getuid?.();
}

// The archive that the Temporal SDKs download for their test environment.
async function download(staging: string, limit: AbortSignal, log: (line: string) => void): Promise<string> {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const url = `https://temporal.download/cli/archive/v${cliVersion}?platform=${process.platform}&arch=${arch}&format=tar.gz`;
  log(`downloading the Temporal CLI ${cliVersion} ...`);
  const response = await fetch(url, { signal: AbortSignal.any([limit, AbortSignal.timeout(5 * 60_000)]) });
  if (!response.ok) throw new Error(`the download server returned ${response.status}`);
  const archive = join(staging, 'temporal.tar.gz');
  await writeFile(archive, new Uint8Array(await response.arrayBuffer()));
  await output('tar', ['-xzf', archive, '-C', staging]);
  const binary = join(staging, 'temporal');
  await chmod(binary, 0o755);
  return binary;
}

async function buildWithGo(staging: string, limit: AbortSignal, log: (line: string) => void): Promise<string> {
  log(`building the Temporal CLI ${cliVersion} with Go (the first build takes minutes) ...`);
  const goHome = join(cacheDirectory(), 'go');
  const environment = {
    ...process.env,
    GOBIN: staging,
    CGO_ENABLED: '0',
    // Go has no default for these without HOME.
    ...(process.env.HOME ? {} : { GOPATH: join(goHome, 'path'), GOCACHE: join(goHome, 'build') }),
  };
  const started = Date.now();
  const go = spawn(
    'go',
    ['install', '-v', '-trimpath', '-ldflags=-s -w', `github.com/temporalio/cli/cmd/temporal@v${cliVersion}`],
    // On SIGINT Go also ends its compilers; SIGTERM would leave them running.
    { env: environment, stdio: ['ignore', 'ignore', 'pipe'], signal: limit, killSignal: 'SIGINT' },
  );
  let steps = 0;
  let lastLines = '';
  go.stderr.setEncoding('utf8').on('data', (text: string) => {
    steps += text.split('\n').length - 1;
    lastLines = (lastLines + text).slice(-2000);
  });
  const progress = setInterval(() => {
    const module = lastLines.trimEnd().split('\n').at(-1) ?? '';
    log(`  ${Math.round((Date.now() - started) / 1000)} s, ${steps} steps: ${module}`);
  }, 10_000);
  try {
    const code = await exitCode(go);
    if (code !== 0)
      throw new Error(`go exited with code ${code}: ${lastLines.trimEnd().split('\n').slice(-3).join(' | ')}`);
  } finally {
    clearInterval(progress);
  }
  return join(staging, 'temporal');
}

function isMissingProgram(error: unknown): error is Error & { path: unknown } {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT' && 'path' in error;
}

function describe(error: unknown): string {
  if (isMissingProgram(error)) return `${error.path} is not installed`;
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

function exitCode(child: ChildProcess): Promise<number> {
  return new Promise((settle, fail) => {
    child.once('error', fail);
    child.once('exit', (code) => settle(code ?? 1));
  });
}

async function output(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const code = await exitCode(child);
  if (code !== 0) throw new Error(`${command} exited with code ${code}`);
  return text;
}

async function runDevelopmentServer(binary: string, options: ServerOptions, stop: AbortSignal): Promise<number> {
  // Errors only: during shutdown the server warns about each of its own connections.
  const args = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', options.port, '--log-level', 'error'];
  if (options.headless) args.push('--headless');
  if (options.keep) {
    const data = resolve(repository, process.env.DATA_DIR || '.data');
    process.umask(0o077);
    mkdirSync(data, { recursive: true });
    args.push('--db-filename', join(data, 'temporal.db'));
  }
  const server = spawn(binary, args, { stdio: 'inherit' });
  stop.addEventListener('abort', () => server.kill('SIGTERM'));
  const code = await exitCode(server);
  return stop.aborted ? 0 : code;
}

/** Aborts on a stop signal, or when the parent process exits. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => controller.abort());
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && controller.abort(), 500).unref();
  return controller.signal;
}

interface ServerOptions {
  readonly port: string;
  readonly keep: boolean;
  readonly headless: boolean;
}

const usage = `npm run temporal [-- options]    a development Temporal server on 127.0.0.1

  --port <n>   port of the server (7233); the web UI uses this port + 1000
  --headless   without the web UI
  --keep       keep workflows in DATA_DIR/temporal.db instead of in memory
  --find       print the address or binary that would be used; exits with 1 if there is none
  --install    only install the binary into REVIEW_CACHE_DIR`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '7233' },
      headless: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      find: { type: 'boolean', default: false },
      install: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const log = (line: string) => console.error(`temporal: ${line}`);
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const found = findTemporal();
  if (values.find) {
    if (found) console.log('address' in found ? found.address : found.binary);
    else log('no Temporal server found; `npm run temporal -- --install` installs one');
    return found ? 0 : 1;
  }
  if (found && 'address' in found) {
    log(`TEMPORAL_ADDRESS is set to ${found.address}: nothing to start`);
    return 0;
  }
  if (found) log(`found in ${found.from}: ${found.binary}`);
  const stop = stopSignal();
  const binary = found?.binary ?? (await installTemporal(log, stop));
  return values.install ? 0 : runDevelopmentServer(binary, values, stop);
}

if (process.argv[1] === import.meta.filename) {
  try {
    process.exitCode = await main();
  } catch (error) {
    console.error(`temporal: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
