import { type Logger, pino } from 'pino';
import { Registry } from 'prom-client';
import type { Config } from './config.ts';
import { type OpenDatabase, openDatabase } from './db/open.ts';
import type { Database } from './db/schema.ts';
import { describeError } from './describe-error.ts';
import { FileWatch } from './files/watch.ts';
import { Bell } from './generation/bell.ts';
import { type Clock, clockOf } from './generation/clock.ts';
import { Dispatcher } from './generation/dispatcher.ts';
import { deriveSecrets, type Secrets } from './secrets.ts';
import { openStorage } from './storage/open.ts';
import type { Storage } from './storage/storage.ts';

/** What the rooms and the generic steps are given. */
export interface Deps extends AsyncDisposable {
  config: Config;
  db: Database;
  opened: OpenDatabase;
  /** By which leases, deadlines and heartbeats are judged. */
  clock: Clock;
  storage: Storage;
  secrets: Secrets;
  /** Wakes requests that wait for a file. */
  watch: FileWatch;
  /** Wakes whoever waits for generations to run. */
  bell: Bell;
  /** Hands generations to Temporal; null where another engine runs them. */
  dispatcher: Dispatcher | null;
  /** Aborted when the process stops: nobody waits any longer. */
  stopping: AbortSignal;
  log: Logger;
  metrics: Registry;
}

export function openDeps(
  config: Config,
  log: Logger = pino({ level: config.logLevel, serializers: { err: describeError } }),
  stopping: AbortSignal = new AbortController().signal,
): Deps {
  const opened = openDatabase(config.database, (error) => log.warn({ err: error }, 'a database connection broke'));
  const secrets = deriveSecrets(config.secretKey, config.previousSecretKey);
  const storage = openStorage({
    storageUrl: config.storageUrl,
    publicUrl: config.publicUrl,
    signingKeys: secrets.blobs,
  });
  const watch = new FileWatch(config.waitLimit, config.waitSeconds * 1000);
  const bell = new Bell();
  const clock = clockOf(opened.dialect);
  const dispatcher = config.engine === 'temporal' ? new Dispatcher({ config, db: opened.db, clock, bell, log }) : null;
  return {
    config,
    db: opened.db,
    opened,
    clock,
    storage,
    secrets,
    watch,
    bell,
    dispatcher,
    stopping,
    log,
    metrics: new Registry(),
    async [Symbol.asyncDispose]() {
      watch.wakeAll();
      await dispatcher?.[Symbol.asyncDispose]();
      await storage[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
}
