import { setTimeout as delay } from 'node:timers/promises';
import {
  FAMILIES,
  MEDIA_QUEUE,
  MEDIA_TASK_QUEUE,
  POLL_QUEUE,
  submitQueueOf,
  WEBHOOK_QUEUE,
  WORKFLOW_QUEUE,
} from '@review/contract';
import { SdkComponent } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Drain } from '../drain.ts';
import type { MediaContext } from '../media-tasks/read-media.ts';
import { MAX_SECONDS } from '../policy.ts';
import type { StepContext } from '../steps/context.ts';
import { type DeliveryContext, MAX_RUNS } from '../webhooks/deliver.ts';
import type { Stop } from './embedded.ts';
import { temporalActivities } from './temporal-activities.ts';
import { mediaActivities } from './temporal-media.ts';
import { webhookActivities } from './temporal-webhooks.ts';
import { workflowBundle } from './workflow-bundle.ts';

interface TemporalOptions {
  worker: string;
  /** The maximum of concurrent polls. */
  concurrency: number;
  /** The maximum of files whose media is read at once. 0 leaves media to other workers. */
  mediaConcurrency: number;
  /** The TEMPORAL_* settings. */
  environment: Record<string, string>;
}

/** Concurrent submits per family. Bounds how many a crash can leave without a recorded answer. */
const MAX_SUBMITS = 4;
/** Concurrent downloads and uploads of results. The sandbox renders its results on this host. */
const MAX_MEDIA = 4;
const RETRY_MS = 1000;
/** How long steps have to end after `stop.now`. */
const FORCE_MS = 10_000;

/** Serves every task queue until `stop.soon` aborts, except while the worker drains. Reconnects after each loss of the connection. */
export async function runTemporal(
  context: Omit<StepContext, 'signal' | 'steps'>,
  webhooks: DeliveryContext,
  media: MediaContext,
  options: TemporalOptions,
  stop: Stop,
  drain: Drain,
): Promise<void> {
  const { log } = context;
  installRuntime(log);
  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: options.environment });
  const bundle = await workflowBundle();
  const activities = temporalActivities(context, stop.now);
  const stopped = new Promise<never>((_, reject) => {
    stop.soon.addEventListener('abort', () => reject(stop.soon.reason), { once: true });
  });
  stopped.catch(() => {});
  const forced = new Promise<never>((_, reject) => {
    stop.now.addEventListener('abort', () => setTimeout(reject, FORCE_MS, stop.now.reason), { once: true });
  });
  forced.catch(() => {});
  for (let warned = false; !stop.soon.aborted; ) {
    await drain.waitUntilOver(stop.soon);
    const over = AbortSignal.any([stop.soon, drain.signal]);
    try {
      const connection = await Promise.race([NativeConnection.connect(connectionOptions), stopped]);
      try {
        const common = { connection, identity: options.worker, ...(namespace !== undefined && { namespace }) };
        const workers = await createAll([
          { ...common, ...GRACE, taskQueue: WORKFLOW_QUEUE, workflowBundle: bundle },
          // Workers of earlier releases would run these workflows as generations, so that they have their own queue.
          {
            ...common,
            ...GRACE,
            taskQueue: WEBHOOK_QUEUE,
            workflowBundle: bundle,
            activities: webhookActivities(webhooks, over),
            maxConcurrentActivityTaskExecutions: MAX_RUNS,
          },
          ...(options.mediaConcurrency > 0
            ? [
                {
                  ...common,
                  ...GRACE,
                  taskQueue: MEDIA_TASK_QUEUE,
                  workflowBundle: bundle,
                  activities: mediaActivities(media, stop.soon),
                  maxConcurrentActivityTaskExecutions: options.mediaConcurrency,
                },
              ]
            : []),
          ...queues(options).map(([taskQueue, most]) => ({
            ...common,
            ...GRACE,
            taskQueue,
            activities,
            maxConcurrentActivityTaskExecutions: most,
          })),
        ]);
        log.info(
          { address: connectionOptions.address, namespace, queues: workers.length },
          'serving the queues of Temporal',
        );
        warned = false;
        await Promise.race([runAll(workers, over), forced]);
        if (over.aborted && !stop.soon.aborted) log.info('drained: no step is left, and none is taken');
      } finally {
        await connection.close();
      }
    } catch (error) {
      if (stop.soon.aborted) return;
      if (!warned) log.warn({ err: error }, 'Temporal does not answer; retrying until it does');
      warned = true;
      await delay(RETRY_MS, undefined, { signal: stop.soon }).catch(() => {});
    }
  }
}

/** Every step ends itself within this time, so that a drain cancels none. `stop.now` ends those of a worker that stops. */
const GRACE = {
  shutdownGraceTime: `${MAX_SECONDS.storeSeconds} seconds`,
  maxHeartbeatThrottleInterval: '5 seconds',
} as const satisfies Partial<WorkerOptions>;

const queues = ({ concurrency }: TemporalOptions): [string, number][] => [
  ...FAMILIES.map((family): [string, number] => [submitQueueOf(family), MAX_SUBMITS]),
  [POLL_QUEUE, concurrency],
  [MEDIA_QUEUE, MAX_MEDIA],
];

/** Creates all workers or none: the connection cannot be closed while a worker uses it. */
async function createAll(options: WorkerOptions[]): Promise<Worker[]> {
  const created = await Promise.allSettled(options.map((option) => Worker.create(option)));
  const workers = created.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = created.find((result) => result.status === 'rejected');
  if (failed === undefined) return workers;
  await runAll(workers, AbortSignal.abort());
  throw failed.reason;
}

/** Runs the workers until the signal aborts or one of them fails, and waits for their steps. */
async function runAll(workers: Worker[], stop: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<void>();
  stop.addEventListener('abort', () => over.resolve(), { once: true });
  if (stop.aborted) over.resolve();
  const runs = await Promise.allSettled(
    workers.map((worker) => worker.runUntil(over.promise).finally(() => over.resolve())),
  );
  const failed = runs.find((run) => run.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Routes the SDK's log into this worker's log, and disables the SDK's own signal handlers. */
function installRuntime(log: Logger): void {
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
  const logger = new DefaultLogger(log.isLevelEnabled('debug') ? 'DEBUG' : 'WARN', ({ level, message, meta }) => {
    // The SDK warns about queues without workflows, and about failed steps, which the timeline already records.
    const isUsual = level === 'WARN' && meta?.['sdkComponent'] === SdkComponent.worker;
    log[isUsual ? 'debug' : levels[level]]({ ...meta }, message);
  });
  const logging = { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } as const;
  Runtime.install({ logger, shutdownSignals: [], telemetryOptions: { logging } });
}
