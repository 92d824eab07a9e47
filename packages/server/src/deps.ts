import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from './config/config.ts';
import type { Secrets } from './config/secrets.ts';
import type { Clock } from './db/clock.ts';
import type { OpenDatabase } from './db/database.ts';
import type { Database } from './db/schema.ts';
import type { FileWatch } from './notify/file-watch.ts';
import type { Notifier } from './notify/notifier.ts';
import type { ProjectNotifier } from './notify/project-notifier.ts';
import type { Storage } from './storage/storage.ts';

/** The dependencies of the rooms and of the request pipeline. */
export interface Deps extends AsyncDisposable {
  config: Config;
  db: Database;
  opened: OpenDatabase;
  /** The time source of leases, deadlines and heartbeats. */
  clock: Clock;
  storage: Storage;
  secrets: Secrets;
  /** Notifies requests that wait for a file. */
  watch: FileWatch;
  /** Notifies claims and the dispatcher when a generation is queued or a slot is released. */
  queueNotifier: Notifier;
  /** Notifies the event streams of a project. */
  projectNotifier: ProjectNotifier;
  /** Starts generations as Temporal workflows; null with the embedded engine. */
  dispatcher: WorkflowDispatcher | null;
  /** Aborted when the process stops, which ends all long polls. */
  stopping: AbortSignal;
  log: Logger;
  metrics: Registry;
}

/** Starts and cancels the workflows of generations. */
export interface WorkflowDispatcher extends AsyncDisposable {
  start(signal: AbortSignal): Promise<void>;
  cancel(fileId: string): Promise<void>;
  /** Whether Temporal answers. */
  isReachable(): Promise<boolean>;
}
