import { type Logger, pino } from 'pino';
import { Registry } from 'prom-client';
import type { Config } from './config.ts';
import { type OpenDatabase, openDatabase } from './db/open.ts';
import type { Database } from './db/schema.ts';
import { deriveSecrets, type Secrets } from './secrets.ts';

/** What the rooms and the generic steps are given. */
export interface Deps extends AsyncDisposable {
  config: Config;
  db: Database;
  opened: OpenDatabase;
  secrets: Secrets;
  log: Logger;
  metrics: Registry;
}

export function openDeps(config: Config, log: Logger = pino({ level: config.logLevel })): Deps {
  const opened = openDatabase(config.database, (error) => log.warn({ err: error }, 'a database connection broke'));
  return {
    config,
    db: opened.db,
    opened,
    secrets: deriveSecrets(config.secretKey),
    log,
    metrics: new Registry(),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}
