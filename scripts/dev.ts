// `npm start`: runs server, worker and console with a demo workspace.
// `npm run dev` (--watch): the same, compiled and restarted on every change, with the console served by Vite.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, watch } from 'node:fs';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import serverFlags from '../packages/server/node-flags.json' with { type: 'json' };
import { openDemo } from './dev-demo.ts';
import { printLog } from './dev-log.ts';

const repository = resolve(import.meta.dirname, '..');
const dataDirectory = resolve(repository, process.env.DATA_DIR || '.data');
const port = process.env.PORT || '3000';
const host = process.env.HOST || '127.0.0.1';
const reachableHost = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
const serverUrl = `http://${reachableHost.includes(':') ? `[${reachableHost}]` : reachableHost}:${port}`;
const isWatching = process.argv.includes('--watch');
const viteUrl = 'http://localhost:5173';
const publicUrl = process.env.PUBLIC_URL || (isWatching ? viteUrl : serverUrl);
// Shared by server, worker and command line.
const environment = { ...process.env, PORT: port, HOST: host, PUBLIC_URL: publicUrl, DATA_DIR: dataDirectory };
const graceMs = 35_000;

/** Node restarts the program when one of its modules changes, and waits for the next change when it fails. */
const WATCH = isWatching ? ['--watch', '--watch-preserve-output'] : [];
const TSC = ['node_modules/typescript/bin/tsc', '-b', 'packages/server', 'packages/worker'];
const BUNDLE = ['packages/server/bundle.ts'];
const WATCHED = 'packages/{contract,client,tracing,server,worker}/src/**/';
const SETTLED_MS = 100;
const VITE = [
  'apps/dev-console/node_modules/vite/bin/vite.js',
  'apps/dev-console',
  '--strictPort',
  '--clearScreen',
  'false',
];

const children = new Set<ChildProcess>();
const stop = new AbortController();

class Failure extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

process.exitCode = await main();

async function main(): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && stop.abort(), 500).unref();
  try {
    await Promise.race([runUntilOneEnds(), once(stop.signal, 'abort')]);
  } catch (error) {
    // Errors after a stop are expected.
    if (!stop.signal.aborted) {
      stop.abort();
      if (error instanceof Error && error.message !== '') console.error(error.message);
      await stopChildren();
      return error instanceof Failure ? error.exitCode : 1;
    }
  }
  if (!(await stopChildren())) return 1;
  console.log('stopped');
  return 0;
}

async function runUntilOneEnds(): Promise<never> {
  if (await isTaken()) {
    throw new Failure(
      `port ${port} is taken: stop the program that uses it, or choose another port with PORT=<number> npm start`,
      1,
    );
  }
  const server = endOf(
    'server',
    start('server', [...WATCH, ...serverFlags, 'packages/server/dist/main.js'], environment),
  );
  const demo = await Promise.race([server, ready().then(() => openDemo(review, dataDirectory, keyWorks))]);
  // The server has already printed why it could not start.
  if (demo instanceof Failure) throw new Failure('', demo.exitCode);
  const workerEnvironment = { ...environment, SERVER_URL: serverUrl };
  const worker = start('worker', [...WATCH, 'packages/worker/dist/main.js'], workerEnvironment);
  const vite = isWatching ? [endOf('vite', start('vite', VITE, workerEnvironment))] : [];
  if (isWatching) rebuildOnChange();
  console.log(`
  Console    ${publicUrl}/
  API docs   ${publicUrl}/docs
  Demo key   ${demo.key}
  Project    ${demo.projectId}

  curl -H 'Authorization: Bearer ${demo.key}' ${publicUrl}/api/ping

  Data is kept in ${dataDirectory}. Ctrl-C stops.
`);
  throw await Promise.race([server, endOf('worker', worker), ...vite]);
}

/** Compiles and bundles what changed; Node then restarts the programs that use it. */
function rebuildOnChange(): void {
  let timer: NodeJS.Timeout | undefined;
  const watched = new Set<string>();
  // Each folder by itself: on Linux, Node's recursive watch loses a file that an editor replaces.
  function watchFolders(): void {
    for (const folder of globSync(WATCHED, { cwd: repository }).filter((path) => !watched.has(path))) {
      watched.add(folder);
      watch(resolve(repository, folder), { signal: stop.signal }, () => {
        clearTimeout(timer);
        timer = setTimeout(rebuild, SETTLED_MS);
      });
    }
  }
  function rebuild(): void {
    if (stop.signal.aborted) return;
    watchFolders();
    start('bundle', BUNDLE, process.env);
    start('tsc', TSC, process.env);
  }
  watchFolders();
}

function start(name: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawnNode(args, env);
  printLog(name, child.stdout);
  printLog(name, child.stderr);
  return child;
}

function spawnNode(args: readonly string[], env: NodeJS.ProcessEnv) {
  stop.signal.throwIfAborted();
  const child = spawn(process.execPath, args, { cwd: repository, env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** Resolves with a failure when the process exits, because server and worker run until they are stopped. */
async function endOf(name: string, child: ChildProcess): Promise<Failure> {
  // 'close' is emitted after the last line of output.
  const [code, signal]: (number | string | null)[] = await once(child, 'close');
  return new Failure(`${name} exited unexpectedly (${signal ?? `exit code ${code}`}); stopping`, Number(code) || 1);
}

/** Whether another process uses the port. It would answer the readiness check in place of our server. */
async function isTaken(): Promise<boolean> {
  const probe = createServer();
  try {
    probe.listen(Number(port), host);
    await once(probe, 'listening');
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  }
  probe.close();
  await once(probe, 'close');
  return false;
}

async function ready(): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(`${serverUrl}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    if (response?.ok) return;
    if (tries % 100 === 0) console.error(`waiting for ${serverUrl}/readyz (${response?.status ?? 'no response'})`);
    await sleep(100, undefined, { signal: stop.signal });
  }
}

async function review(...args: string[]): Promise<unknown> {
  const child = spawnNode(['packages/server/dist/commands/main.js', ...args, '--json'], environment);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  if (code !== 0) throw new Failure(`review ${args[0]} exited with code ${code}: ${stderr.trim() || stdout.trim()}`, 1);
  return JSON.parse(stdout);
}

async function keyWorks(key: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${serverUrl}/api/ping`, { headers, signal: AbortSignal.timeout(5_000) });
  return response.ok;
}

/** Returns false if a child had to be killed or exited with an error. */
async function stopChildren(): Promise<boolean> {
  const deadline = AbortSignal.timeout(graceMs);
  const ends = await Promise.all([...children].map((child) => stopChild(child, deadline)));
  return ends.every(Boolean);
}

async function stopChild(child: ChildProcess, deadline: AbortSignal): Promise<boolean> {
  const end = once(child, 'exit');
  child.kill('SIGTERM');
  const kill = () => child.kill('SIGKILL');
  deadline.addEventListener('abort', kill);
  const [code, signal]: (number | string | null)[] = await end;
  deadline.removeEventListener('abort', kill);
  // 143: stopped by SIGTERM, as Vite says it.
  const clean = code === 0 || code === 143 || signal === 'SIGTERM' || signal === 'SIGINT';
  if (!clean) console.error(`${child.spawnargs[1]} did not stop cleanly (${signal ?? `exit code ${code}`})`);
  return clean;
}
