import { setTimeout as delay } from 'node:timers/promises';
import type { GenerationTask } from '@review/contract';
import { markFailed } from '@review/tracing';
import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../db/clock.ts';
import type { Database } from '../../db/schema.ts';
import type { WorkflowDispatcher } from '../../deps.ts';
import type { Notifier } from '../../notify/notifier.ts';
import { keepStartingMedia } from '../media/start-workflows.ts';
import { keepStartingWebhooks } from '../webhooks/start-workflows.ts';
import { abilitiesOfAll } from '../workers/abilities.ts';
import { listAvailable } from '../workers/queries.ts';
import {
  DISPATCHER,
  type HandedOver,
  listDispatched,
  requeueDispatch,
  setDispatched,
  setUndispatched,
} from './hand-over.ts';
import { findGenerations, type StoredGeneration } from './queries.ts';
import { takeTasks } from './slots.ts';
import { openTemporal, type TemporalClient } from './temporal-client.ts';
import { startHandOver } from './trace-context.ts';

interface DispatcherDeps {
  config: Config;
  db: Database;
  clock: Clock;
  queueNotifier: Notifier;
  log: Logger;
}

/** The time that a dispatcher has to start a workflow before another one may. */
const LEASE_SECONDS = 10;
const POLL_INTERVAL_MS = 1000;
const MAX_BATCH = 50;

/**
 * Starts a workflow for every generation that gets a slot, every webhook with due deliveries and every file whose media is
 * to be read. The row is the source of truth: an open row gets a workflow even if this process or Temporal fails meanwhile. The row's lease and epoch guarantee that it gets only one.
 */
export class Dispatcher implements WorkflowDispatcher {
  readonly #deps: DispatcherDeps;
  readonly #disposed = new AbortController();
  #client: TemporalClient | undefined;
  #loops: Promise<unknown> = Promise.resolve();
  #isReachable = true;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
  }

  /** Starts dispatching. Resolves when the client library is loaded; does not wait for a connection to Temporal. */
  async start(signal: AbortSignal): Promise<void> {
    const client = await openTemporal(this.#deps.config.temporal);
    this.#client = client;
    const stop = AbortSignal.any([signal, this.#disposed.signal]);
    this.#loops = Promise.all([
      this.#keepDispatching(client, stop),
      this.#keepReconciling(client, stop),
      keepStartingWebhooks(this.#deps, client, stop),
      keepStartingMedia(this.#deps, client, stop),
    ]);
  }

  /** Cancels the workflow of a canceled generation. Best effort: otherwise the workflow ends at its next step. */
  async cancel(fileId: string): Promise<void> {
    await this.#client
      ?.cancel(fileId)
      .catch((error: unknown) =>
        this.#deps.log.debug({ err: error, file: fileId }, 'workflow not canceled; it ends at its next step'),
      );
  }

  /** Whether Temporal answers; false before `start`. */
  async isReachable(): Promise<boolean> {
    return (await this.#client?.isReachable()) ?? false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort();
    // Before the loops end: a call to a Temporal that does not answer would wait for its timeout.
    await this.#client?.close();
    await this.#loops;
  }

  async #keepDispatching(client: TemporalClient, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const seen = this.#deps.queueNotifier.count;
      const started = await this.#dispatch(client).catch((error: unknown) => this.#reportUnreachable(error));
      // More generations may be waiting after a batch.
      if (!started) await this.#deps.queueNotifier.wait(seen, POLL_INTERVAL_MS, stop);
    }
  }

  /** Starts the workflows of one batch. Returns whether any was started. */
  async #dispatch(client: TemporalClient): Promise<boolean> {
    const { db, clock, config } = this.#deps;
    // Generations that no living worker can run stay queued, because they would block a slot.
    const abilities = abilitiesOfAll(await listAvailable(db, clock), config.generation);
    const holder = { engine: 'temporal', owner: DISPATCHER, leaseUntil: clock(LEASE_SECONDS), abilities } as const;
    const tasks = await takeTasks(db, holder, config.generation, MAX_BATCH, clock());
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

  async #start(client: TemporalClient, task: GenerationTask, generation: StoredGeneration): Promise<boolean> {
    const { db, clock, log } = this.#deps;
    const { workspace_id: workspaceId, output_model: outputModel } = generation;
    const handOver = startHandOver(generation, 'temporal');
    try {
      const { traceparent } = handOver ?? {};
      await client.start({ ...task, ...(traceparent && { traceparent }), workspaceId, outputModel });
    } catch (error) {
      if (handOver !== null) markFailed(handOver.span, 'UNREACHABLE');
      this.#reportUnreachable(error);
      await setUndispatched(db, task, clock());
      return false;
    } finally {
      handOver?.span.end();
    }
    if (!this.#isReachable) log.info('Temporal is reachable again');
    this.#isReachable = true;
    await setDispatched(db, task);
    return true;
  }

  #reportUnreachable(error: unknown): void {
    if (this.#isReachable && !this.#disposed.signal.aborted)
      this.#deps.log.warn({ err: error }, 'Temporal is not reachable: workflows cannot be started; retrying');
    this.#isReachable = false;
  }

  async #keepReconciling(client: TemporalClient, stop: AbortSignal): Promise<void> {
    const { config, log } = this.#deps;
    while (!stop.aborted) {
      const isDone = await this.#reconcile(client).then(
        () => true,
        (error: unknown) => log.debug({ err: error }, 'workflows not reconciled'),
      );
      const wait = isDone ? config.generation.reconcileSeconds * 1000 : POLL_INTERVAL_MS;
      await delay(wait, undefined, { signal: stop }).catch(() => {});
    }
  }

  /** Starts another workflow for open generations that have none any more. */
  async #reconcile(client: TemporalClient): Promise<void> {
    const { db, clock, queueNotifier, log } = this.#deps;
    const dispatched = await listDispatched(db);
    for (let from = 0; from < dispatched.length; from += MAX_BATCH) {
      const some = dispatched.slice(from, from + MAX_BATCH);
      const restart = async (handed: HandedOver) => {
        if (await client.isRunning(handed.fileId)) return;
        if (await requeueDispatch(db, handed, clock()))
          log.warn({ file: handed.fileId }, 'workflow missing; starting another');
      };
      await Promise.all(some.map(restart));
      queueNotifier.notify();
    }
  }
}
