import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { Counter, Registry } from 'prom-client';
import type { Config } from './config/config.ts';
import { deriveSecrets } from './config/secrets.ts';
import { openChannel } from './db/channel.ts';
import { clockOf } from './db/clock.ts';
import { openDatabase } from './db/open.ts';
import type { Deps } from './deps.ts';
import { FileWatch } from './notify/file-watch.ts';
import { Notifier } from './notify/notifier.ts';
import { ProjectNotifier } from './notify/project-notifier.ts';
import { openLog } from './open-log.ts';
import { SharedRegistry } from './processes/metrics.ts';
import { Dispatcher } from './rooms/generation/dispatcher.ts';
import { openStorage } from './storage/open.ts';

/** The channel of Postgres with the ids of projects that have new events. */
const EVENTS_CHANNEL = 'review_events';

/** Opens the dependencies that the configuration describes. Disposing closes them. */
export function openDeps(
  config: Config,
  log: Logger = openLog(config.logLevel),
  stopping: AbortSignal = new AbortController().signal,
): Deps {
  const opened = openDatabase(config.database, (error) => log.warn({ err: error }, 'database connection lost'));
  const secrets = deriveSecrets(config.secretKey, config.previousSecretKey);
  const storage = openStorage({
    storageUrl: config.storageUrl,
    publicUrl: config.publicUrl,
    signingKeys: secrets.blobs,
  });
  const watch = new FileWatch(config.waitLimit, config.waitSeconds * 1000);
  const queueNotifier = new Notifier();
  const channel = openChannel(opened, EVENTS_CHANNEL, (ids) => projectNotifier.wake(ids));
  const metrics = cluster.isWorker ? new SharedRegistry() : new Registry();
  const eventCounter = new Counter({
    name: 'events_total',
    help: 'Changes that were stored with their event, by type of the event.',
    labelNames: ['type'],
    registers: [metrics],
  });
  const projectNotifier = new ProjectNotifier(channel, eventCounter);
  const clock = clockOf(opened.dialect);
  const dispatcher =
    config.engine === 'temporal' ? new Dispatcher({ config, db: opened.db, clock, queueNotifier, log }) : null;
  return {
    config,
    db: opened.db,
    opened,
    clock,
    storage,
    secrets,
    watch,
    queueNotifier,
    projectNotifier,
    dispatcher,
    stopping,
    log,
    metrics,
    async [Symbol.asyncDispose]() {
      watch.wakeAll();
      await dispatcher?.[Symbol.asyncDispose]();
      await channel[Symbol.asyncDispose]();
      await storage[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
}
