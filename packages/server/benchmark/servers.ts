import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../scripts/free-port.ts';
import nodeFlags from '../node-flags.json' with { type: 'json' };
import type { Measured } from './measure.ts';

const root = resolve(import.meta.dirname, '../../..');
const READY_MS = 30_000;
/** High enough for the load. The limiter counts every request, as in production. */
const LIMIT = 100_000_000;
const TOKEN = 'benchmark-worker-token';

interface Start {
  port: number;
  log: string;
  applicationName: string;
  env?: Settings;
  /** Options of Node. */
  flags?: string[];
}

/** A started process. Its log goes to a file, as under a service manager. */
export class Running implements Measured, AsyncDisposable {
  readonly port: number;
  readonly applicationName: string;
  readonly #child: ChildProcess;
  readonly #kill = () => void this.#child.kill('SIGKILL');
  readonly logFile: string;

  constructor(file: string, args: string[], { port, log, applicationName, env = {}, flags = [] }: Start) {
    this.port = port;
    this.applicationName = applicationName;
    this.logFile = log;
    const output = openSync(log, 'a');
    // `npm run` sets the cache for all programs.
    const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
    this.#child = spawn(process.execPath, [...flags, join(root, file), ...args], {
      env: { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, NODE_ENV: 'production', ...env },
      stdio: ['ignore', output, output],
    });
    process.once('exit', this.#kill);
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the process did not start');
    return this.#child.pid;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Polls until `isReady`. */
  async waitUntil(isReady: () => Promise<boolean>): Promise<this> {
    const deadline = performance.now() + READY_MS;
    while (!(await isReady())) {
      if (this.#child.exitCode !== null) throw new Error(`the process ended; its log is ${this.logFile}`);
      if (performance.now() > deadline) throw new Error(`not ready after ${READY_MS} ms; the log is ${this.logFile}`);
      await sleep(5);
    }
    return this;
  }

  waitUntilReady = () => this.waitUntil(async () => (await fetch(`${this.url}/readyz`).catch(() => null))?.ok === true);

  /** Ends the process with SIGTERM, so that exit handlers run. */
  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGTERM');
      await once(this.#child, 'exit');
    }
    process.off('exit', this.#kill);
  }

  [Symbol.asyncDispose] = () => this.stop();
}

type Settings = Record<string, string>;

/** Starts the built server as in production: log at info, rate limits on. */
export async function startServer(folder: string, databaseUrl: string, settings: Settings = {}): Promise<Running> {
  const port = Number(await freePort());
  const env = {
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: databaseUrl,
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    SECRET_KEY: 'benchmark'.padEnd(32, '.'),
    WORKER_TOKEN: TOKEN,
    RATE_LIMITS: ['default', 'tier-2', 'tier-3', 'tier-4'].map((tier) => `${tier}=${LIMIT}`).join(','),
    GENERATION_SLOTS: 'DOCUMENT=50',
    FAMILY_CAPS: 'document=50',
    GENERATION_QUEUE_LIMIT: '100000',
    DRAIN_SECONDS: '0',
    SHUTDOWN_SECONDS: '5',
    ...settings,
  };
  const log = join(folder, 'server.log');
  const server = new Running('packages/server/dist/main.js', [], {
    port,
    log,
    applicationName: 'project-review-service',
    env,
    flags: nodeFlags,
  });
  return server.waitUntilReady();
}

export async function startFairServer(folder: string, databaseUrl: string): Promise<Running> {
  const port = Number(await freePort());
  const options = { port, log: join(folder, 'fair.log'), applicationName: 'fair-server' };
  return new Running('packages/server/benchmark/fair-server.ts', [String(port), databaseUrl], options).waitUntilReady();
}

export async function startStreamServer(folder: string): Promise<Running> {
  const port = Number(await freePort());
  const options = { port, log: join(folder, 'stream.log'), applicationName: '' };
  return new Running('packages/server/benchmark/stream-server.ts', [String(port), folder], options).waitUntilReady();
}

export async function startWorker(folder: string, server: Running): Promise<Running> {
  const port = Number(await freePort());
  const env = {
    SERVER_URL: server.url,
    WORKER_TOKEN: TOKEN,
    WORKER_NAME: 'benchmark',
    WORKER_PORT: String(port),
    WORK_DIR: folder,
    SANDBOX_MILLISECONDS: '0',
  };
  const options = { port, log: join(folder, 'worker.log'), applicationName: '', env };
  const worker = new Running('packages/worker/dist/main.js', [], options);
  return worker.waitUntil(async () => (await fetch(`${worker.url}/healthz`).catch(() => null))?.ok === true);
}
