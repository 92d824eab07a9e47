import { setTimeout as delay } from 'node:timers/promises';
import { FAMILIES, MEDIA_QUEUE, POLL_QUEUE, submitQueueOf, WORKFLOW_QUEUE } from '@review/contract';
import { SdkComponent } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { DefaultLogger, NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { StepContext } from '../steps/context.ts';
import type { Stop } from './embedded.ts';
import { temporalActivities } from './temporal-activities.ts';
import { workflowBundle } from './workflow-bundle.ts';

interface TemporalOptions {
  worker: string;
  /** Polls that this process makes at once. */
  concurrency: number;
  /** The settings that Temporal's own tools read. */
  environment: Record<string, string>;
}

/** Orders on their way at once, per family: bounds what one crash can leave without an answer. */
const MOST_SUBMITS = 4;
/** Results brought in at once: each may be made by this very host. */
const MOST_MEDIA = 4;
const RETRY_MS = 1000;

/** Serves every queue of the generations until told to stop, however often Temporal comes and goes. */
export async function runTemporal(
  context: Omit<StepContext, 'signal'>,
  options: TemporalOptions,
  stop: Stop,
): Promise<void> {
  const { log } = context;
  installRuntime(log);
  const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: options.environment });
  const bundle = await workflowBundle();
  const activities = temporalActivities(context);
  const stopped = new Promise<never>((_, reject) => {
    stop.soon.addEventListener('abort', () => reject(stop.soon.reason), { once: true });
  });
  stopped.catch(() => {});
  for (let told = false; !stop.soon.aborted; ) {
    try {
      const connection = await Promise.race([NativeConnection.connect(connectionOptions), stopped]);
      try {
        const common = { connection, identity: options.worker, ...(namespace !== undefined && { namespace }) };
        const workers = await createAll([
          { ...common, ...GRACE, taskQueue: WORKFLOW_QUEUE, workflowBundle: bundle },
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
        told = false;
        await runAll(workers, stop.soon);
      } finally {
        await connection.close();
      }
    } catch (error) {
      if (stop.soon.aborted) return;
      if (!told) log.warn({ err: error }, 'Temporal does not answer; trying until it does');
      told = true;
      await delay(RETRY_MS, undefined, { signal: stop.soon }).catch(() => {});
    }
  }
}

const GRACE = {
  shutdownGraceTime: '30 seconds',
  shutdownForceTime: '40 seconds',
  maxHeartbeatThrottleInterval: '5 seconds',
} as const satisfies Partial<WorkerOptions>;

const queues = ({ concurrency }: TemporalOptions): [string, number][] => [
  ...FAMILIES.map((family): [string, number] => [submitQueueOf(family), MOST_SUBMITS]),
  [POLL_QUEUE, concurrency],
  [MEDIA_QUEUE, MOST_MEDIA],
];

/** All or none: a connection can only be closed when nobody works over it. */
async function createAll(options: WorkerOptions[]): Promise<Worker[]> {
  const created = await Promise.allSettled(options.map((option) => Worker.create(option)));
  const workers = created.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = created.find((result) => result.status === 'rejected');
  if (failed === undefined) return workers;
  await runAll(workers, AbortSignal.abort());
  throw failed.reason;
}

/** Until they are told to stop, or one of them cannot go on. */
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

/** One log, and signals that are handled in one place: the SDK would take both for itself. */
function installRuntime(log: Logger): void {
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
  const logger = new DefaultLogger(log.isLevelEnabled('debug') ? 'DEBUG' : 'WARN', ({ level, message, meta }) => {
    // It warns of every queue that has no workflows, and of every step that failed, which the timeline tells.
    const isUsual = level === 'WARN' && meta?.['sdkComponent'] === SdkComponent.worker;
    log[isUsual ? 'debug' : levels[level]]({ ...meta }, message);
  });
  const logging = { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } as const;
  Runtime.install({ logger, shutdownSignals: [], telemetryOptions: { logging } });
}
