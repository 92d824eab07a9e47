import { setTimeout as delay } from 'node:timers/promises';
import type { GenerationTask } from '@review/contract';
import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../db/clock.ts';
import type { Database } from '../../db/schema.ts';
import type { WorkflowDispatcher } from '../../deps.ts';
import type { Notifier } from '../../notify/notifier.ts';
import { abilitiesOfAll } from '../workers/abilities.ts';
import { listLiving } from '../workers/queries.ts';
import {
  DISPATCHER,
  type HandedOver,
  handOverAgain,
  listDispatched,
  setDispatched,
  setUndispatched,
} from './hand-over.ts';
import { findGenerations } from './queries.ts';
import { takeTasks } from './slots.ts';
import { openTemporal, type TemporalClient } from './temporal-client.ts';

interface DispatcherDeps {
  config: Config;
  db: Database;
  clock: Clock;
  queueNotifier: Notifier;
  log: Logger;
}

/** How long a dispatcher may take to start a workflow before another one does it. */
const LEASE_SECONDS = 10;
const LOOK_EVERY_MS = 1000;
const MOST_AT_ONCE = 50;

/**
 * Starts a workflow for every generation that has a slot. The row comes first: whatever happens to this process or to
 * Temporal, an open row gets its workflow, and the row's lease and epoch see to it that it is one.
 */
export class Dispatcher implements WorkflowDispatcher {
  readonly #deps: DispatcherDeps;
  readonly #over = new AbortController();
  #client: TemporalClient | undefined;
  #loops: Promise<unknown> = Promise.resolve();
  #isReachable = true;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
  }

  /** Needs no Temporal yet. Settles when the client is loaded, so that no request has to wait for that. */
  async start(signal: AbortSignal): Promise<void> {
    const client = await openTemporal(this.#deps.config.temporal);
    this.#client = client;
    const stop = AbortSignal.any([signal, this.#over.signal]);
    this.#loops = Promise.all([this.#keepDispatching(client, stop), this.#keepReconciling(client, stop)]);
  }

  /** Makes the workflow of a canceled generation notice at once; without it, it notices at its next step. */
  async cancel(fileId: string): Promise<void> {
    await this.#client
      ?.cancel(fileId)
      .catch((error: unknown) =>
        this.#deps.log.debug({ err: error, file: fileId }, 'a workflow was not told to cancel'),
      );
  }

  /** Whether Temporal answers; not before `start`. */
  async isReachable(): Promise<boolean> {
    return (await this.#client?.isReachable()) ?? false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#loops;
    await this.#client?.close();
  }

  async #keepDispatching(client: TemporalClient, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const seen = this.#deps.queueNotifier.count;
      const started = await this.#dispatch(client).catch((error: unknown) => this.#reportUnreachable(error));
      // As long as there was something, there may be more.
      if (!started) await this.#deps.queueNotifier.wait(seen, LOOK_EVERY_MS, stop);
    }
  }

  /** Says whether any workflow was started. */
  async #dispatch(client: TemporalClient): Promise<boolean> {
    const { db, clock, config } = this.#deps;
    // What no living worker can do stays in the queue: it would only take a slot.
    const abilities = abilitiesOfAll(await listLiving(db, clock), config.generation);
    const holder = { engine: 'temporal', owner: DISPATCHER, leaseUntil: clock(LEASE_SECONDS), abilities } as const;
    const tasks = await takeTasks(db, holder, config.generation, MOST_AT_ONCE, clock());
    if (tasks.length === 0) return false;
    const details = await findGenerations(
      db,
      tasks.map(({ fileId }) => fileId),
    );
    const started = await Promise.all(
      tasks.map(async (task) => {
        const generation = details.get(task.fileId);
        return generation !== undefined && this.#start(client, task, generation);
      }),
    );
    return started.includes(true);
  }

  async #start(
    client: TemporalClient,
    task: GenerationTask,
    { workspaceId, outputModel }: { workspaceId: string; outputModel: string },
  ): Promise<boolean> {
    const { db, clock, log } = this.#deps;
    try {
      await client.start({ ...task, workspaceId, outputModel });
    } catch (error) {
      this.#reportUnreachable(error);
      await setUndispatched(db, task, clock());
      return false;
    }
    if (!this.#isReachable) log.info('Temporal takes workflows again');
    this.#isReachable = true;
    await setDispatched(db, task);
    return true;
  }

  #reportUnreachable(error: unknown): void {
    if (this.#isReachable) this.#deps.log.warn({ err: error }, 'workflows cannot be started; trying until they can');
    this.#isReachable = false;
  }

  async #keepReconciling(client: TemporalClient, stop: AbortSignal): Promise<void> {
    const { config, log } = this.#deps;
    while (!stop.aborted) {
      const isDone = await this.#reconcile(client).then(
        () => true,
        (error: unknown) => log.debug({ err: error }, 'workflows could not be looked at'),
      );
      const wait = isDone ? config.generation.reconcileSeconds * 1000 : LOOK_EVERY_MS;
      await delay(wait, undefined, { signal: stop }).catch(() => {});
    }
  }

  /** Open generations whose workflow is gone, by whatever misfortune, get another one. */
  async #reconcile(client: TemporalClient): Promise<void> {
    const { db, clock, queueNotifier, log } = this.#deps;
    const dispatched = await listDispatched(db);
    for (let from = 0; from < dispatched.length; from += MOST_AT_ONCE) {
      const some = dispatched.slice(from, from + MOST_AT_ONCE);
      const restart = async (handed: HandedOver) => {
        if (await client.isRunning(handed.fileId)) return;
        if (await handOverAgain(db, handed, clock()))
          log.warn({ file: handed.fileId }, 'a workflow was gone; starting another');
      };
      await Promise.all(some.map(restart));
      queueNotifier.notify();
    }
  }
}
