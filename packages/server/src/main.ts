import cluster from 'node:cluster';
import { hostname } from 'node:os';
import { ConfigError } from '@review/contract/settings';
import { startTracing } from '@review/tracing';
import { createApp } from './app.ts';
import { loadEnvironment, readConfig } from './config/config.ts';
import { releaseVersion } from './config/release.ts';
import { IncompatibleSchema, migrate } from './db/migrate.ts';
import type { Deps } from './deps.ts';
import { listen } from './listen.ts';
import { openDeps } from './open-deps.ts';
import { ProcessNotStarted, runProcesses } from './processes/run.ts';
import { rekeyAccessLinks } from './rooms/access-links/rekey.ts';
import { startDeadlineChecks } from './rooms/generation/deadlines.ts';
import { takeOver } from './rooms/generation/hand-over.ts';
import { watchQueue } from './rooms/generation/queue-watch.ts';
import { rekeyWebhooks } from './rooms/webhooks/rekey.ts';
import { setPrivateUmask, tightenPermissions } from './storage/private-files.ts';
import { startSweeper } from './sweeper.ts';

/** How long workers have to register after the start of the server before readiness logs that none is alive. */
const WORKER_START_MS = 15_000;

async function main(): Promise<void> {
  setPrivateUmask();
  const config = readConfig(loadEnvironment());
  const stopping = new AbortController();
  await using deps = openDeps(config, undefined, stopping.signal);
  if (cluster.isPrimary) await prepare(deps);
  if (config.processes > 1 && cluster.isPrimary) {
    using _tasks = startTasks(deps);
    return await runProcesses(config, deps.log, stopSignal());
  }
  await serve(deps, stopping);
}

/** Once per start, before any process serves. */
async function prepare(deps: Deps): Promise<void> {
  const { config, log } = deps;
  tightenPermissions(config, log);
  const applied = await migrate(deps.opened);
  await rekeyAccessLinks(deps);
  await rekeyWebhooks(deps);
  if (applied.length > 0) log.info({ applied }, 'database schema migrated');
  await takeOver(deps.db, config.engine, deps.clock());
}

/** The background tasks. With several processes, the one that does not serve runs them. */
function startTasks(deps: Deps): Disposable {
  const tasks = [startSweeper(deps), startDeadlineChecks(deps), watchQueue(deps)];
  return {
    [Symbol.dispose]() {
      for (const task of tasks) task[Symbol.dispose]();
    },
  };
}

async function serve(deps: Deps, stopping: AbortController): Promise<void> {
  const { config, log } = deps;
  const service = { name: 'review-server', version: releaseVersion(), instance: `${hostname()}:${process.pid}` };
  await using _tracing = await startTracing(config.tracing, service, log);
  await deps.dispatcher?.start(stopping.signal);
  const readiness = { accepting: true, workersDueAt: performance.now() + WORKER_START_MS };
  await using listening = await listen(createApp(deps, readiness), config, config.shutdownSeconds);
  using _tasks = cluster.isPrimary ? startTasks(deps) : null;
  log.info(
    { port: listening.port, host: config.host, database: config.database.dialect, engine: config.engine },
    'server listening',
  );

  const signal = await stopSignal();
  // Requests are served until proxies have noticed that the server is not ready.
  readiness.accepting = false;
  log.info({ signal, drainSeconds: config.drainSeconds }, 'server stopping: requests in flight may finish');
  await listening.drain(config.drainSeconds);
  stopping.abort();
  deps.watch.wakeAll();
}

const stopSignal = () =>
  new Promise<NodeJS.Signals>((resolve) => {
    // The listeners stay, so that a second signal does not end the process before the drain is complete.
    process.on('SIGTERM', resolve);
    process.on('SIGINT', resolve);
  });

function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof IncompatibleSchema) return error.message;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' && 'port' in error) {
    return `Port ${error.port} is in use by another program. Stop it, or choose another port with PORT=<number>.`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main()
  .catch((error: unknown) => {
    if (!(error instanceof ProcessNotStarted)) console.error(explain(error));
    process.exitCode = 1;
  })
  // The channel to the primary process would keep this one running.
  .finally(() => cluster.worker?.disconnect());
