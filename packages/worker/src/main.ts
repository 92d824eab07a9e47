import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { createWorkerClient } from '@review/client';
import { FAMILIES } from '@review/contract';
import { type Logger, pino } from 'pino';
import { checkFamily } from './check.ts';
import { ConfigError, readConfig, readProviders } from './config.ts';
import { runEmbedded, type Stop } from './engines/embedded.ts';
import type { Family } from './families/family.ts';
import { type Families, openFamilies } from './families/open.ts';
import { sandboxFamily } from './families/sandbox.ts';
import { watchRefusals } from './families/watch-refusals.ts';
import { serveHealth } from './health.ts';
import { Metrics } from './metrics.ts';
import { latestRefusals, recordRefusal } from './refusals.ts';
import { register, startHeartbeat } from './register.ts';
import { closeSandbox } from './sandbox/render.ts';
import { removeStaleDirectories } from './stale-directories.ts';

const VERSION = String(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version);

async function main(): Promise<void> {
  // Only this user may read the results in WORK_DIR.
  process.umask(0o077);
  loadSettingsFile(process.env['REVIEW_ENV_FILE']);
  const [command, ...words] = process.argv.slice(2);
  if (command === undefined) return runWorker();
  if (command !== 'check') throw new Error(`Unknown command "${command}". The only command is: check <family>.`);
  const { works, line } = await checkFamily(words[0] ?? '', () => readProviders(process.env));
  console.log(line);
  if (!works) process.exitCode = 1;
}

/** Loads settings from a file, as the server does. The environment takes precedence. */
function loadSettingsFile(file: string | undefined): void {
  try {
    if (file) process.loadEnvFile(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new ConfigError(`The settings cannot be read from ${file}: ${reason}`);
  }
}

async function runWorker(): Promise<void> {
  const config = readConfig(process.env, { name: hostname(), pid: process.pid });
  const log = pino({ level: config.logLevel });
  const stop = listenForStopSignals(log);
  const metrics = new Metrics();
  await using _health = config.port === null ? null : await serveHealth(config.port, metrics.registry);
  const server = createWorkerClient({ baseUrl: config.serverUrl, token: config.token });
  const sandbox = sandboxFamily({ jobMs: config.sandboxMs, now: Date.now });
  const { family, states } =
    config.testProviderUrl === null
      ? openFamilies(config.providers, sandbox, log)
      : await testFamilies(config.testProviderUrl, sandbox);
  const report = () => ({ worker: config.name, version: VERSION, families: states, refusals: latestRefusals() });
  try {
    await removeStaleDirectories(dirname(config.workDirectory));
    const engine = await register(server, report(), log, stop.soon);
    using _reporting = startHeartbeat(server, report, log);
    log.info({ engine, server: config.serverUrl }, 'ready');
    const { onUnknownSubmit } = config.providers;
    const watched = watchRefusals(family, (refusal) => {
      metrics.countRefusal(refusal.family, refusal.type);
      recordRefusal(refusal);
    });
    const context = { server, family: watched, log, metrics, onUnknownSubmit, workDirectory: config.workDirectory };
    const options = { worker: config.name, concurrency: config.concurrency };
    if (engine === 'temporal') {
      // Loaded on demand, because it brings a native library.
      const { runTemporal } = await import('./engines/temporal.ts');
      await runTemporal(context, { ...options, environment: config.temporal }, stop);
    } else await runEmbedded(context, options, stop);
  } catch (error) {
    if (!stop.soon.aborted) throw error;
  } finally {
    await closeSandbox();
    await rm(config.workDirectory, { recursive: true, force: true });
  }
}

/** Loads the test provider, which production never does: there TEST_PROVIDER_URL is refused. */
async function testFamilies(url: string, sandbox: Family): Promise<Families> {
  const { testVendor } = await import('./families/test-vendor.ts');
  const vendor = testVendor(url);
  return {
    family: (name, provider) => (provider === 'sandbox' ? sandbox : vendor(name)),
    states: FAMILIES.map((name) => ({ family: name, state: 'live' })),
  };
}

const GRACE_MS = 30_000;

/** Aborts `soon` at the first SIGTERM or SIGINT, and `now` after the grace period. */
function listenForStopSignals(log: Logger): Stop {
  const [soon, now] = [new AbortController(), new AbortController()];
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // The handler stays: without it, a second signal would kill the running steps.
    process.on(signal, () => {
      if (soon.signal.aborted) return;
      log.info({ signal }, 'worker stops; running steps may finish');
      soon.abort();
      setTimeout(() => now.abort(), GRACE_MS).unref();
    });
  }
  return { soon: soon.signal, now: now.signal };
}

function describeError(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' && 'port' in error) {
    return `Port ${error.port} is in use by another program. Set WORKER_PORT to a free port.`;
  }
  return error instanceof Error ? error.message : String(error);
}

main()
  .catch((error: unknown) => {
    console.error(describeError(error));
    process.exitCode = 1;
  })
  // Temporal's native library may still wait for a connection that is no longer needed.
  .finally(() => process.exit());
