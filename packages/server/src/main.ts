import { createApp } from './app.ts';
import { ConfigError, loadEnvironment, readConfig } from './config/config.ts';
import { IncompatibleSchema, migrate } from './db/migrate.ts';
import { listen } from './listen.ts';
import { openDeps } from './open-deps.ts';
import { rekeyAccessLinks } from './rooms/access-links/rekey.ts';
import { keepDeadlines } from './rooms/generation/deadlines.ts';
import { takeOver } from './rooms/generation/hand-over.ts';
import { watchQueue } from './rooms/generation/queue-watch.ts';
import { createPrivately, tightenPermissions } from './storage/private-files.ts';
import { startSweeper } from './sweeper.ts';

/** How long a worker that is started with the server may take to say hello before its absence is logged. */
const WORKER_START_MS = 15_000;

async function main(): Promise<void> {
  createPrivately();
  const config = readConfig(loadEnvironment());
  const stopping = new AbortController();
  await using deps = openDeps(config, undefined, stopping.signal);
  const { log } = deps;
  tightenPermissions(config, log);
  const applied = await migrate(deps.opened);
  await rekeyAccessLinks(deps);
  if (applied.length > 0) log.info({ applied }, 'the database schema is up to date');
  await takeOver(deps.db, config.engine, deps.clock());
  await deps.dispatcher?.start(stopping.signal);

  const readiness = { accepting: true, workersDueAt: performance.now() + WORKER_START_MS };
  await using listening = await listen(createApp(deps, readiness), config, config.shutdownSeconds);
  using _sweeper = startSweeper(deps);
  using _deadlines = keepDeadlines(deps);
  using _queue = watchQueue(deps);
  log.info(
    { port: listening.port, host: config.host, database: config.database.dialect, engine: config.engine },
    'listening',
  );

  const signal = await stopSignal();
  // Requests and waits are still taken until proxies have seen that the server is not ready any more.
  readiness.accepting = false;
  log.info({ signal, drainSeconds: config.drainSeconds }, 'stopping: requests in flight may finish');
  await listening.drain(config.drainSeconds);
  stopping.abort();
  deps.watch.wakeAll();
}

const stopSignal = () =>
  new Promise<NodeJS.Signals>((resolve) => {
    // Kept on: a second signal must not cut off what the first one lets finish.
    process.on('SIGTERM', resolve);
    process.on('SIGINT', resolve);
  });

function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof IncompatibleSchema) return error.message;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' && 'port' in error) {
    return `Port ${error.port} is taken by another program. Stop it, or choose another port with PORT=<number>.`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main().catch((error: unknown) => {
  console.error(explain(error));
  process.exitCode = 1;
});
