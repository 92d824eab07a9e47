import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { relayMetrics } from './metrics.ts';

const MIN_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
/** A process that ran this long has started well: the back-off begins anew. */
const STEADY_MS = 60_000;
/** Beyond the drain and the shutdown, for closing connections to the database. */
const MARGIN_MS = 10_000;

interface Processes {
  /** How many serve requests. */
  processes: number;
  drainSeconds: number;
  shutdownSeconds: number;
}

/**
 * Starts processes of this program that serve one port, and starts one again that ends. Returns after the stop signal when
 * all have ended; throws if the first cannot start.
 */
export async function runProcesses(config: Processes, log: Logger, stopped: Promise<unknown>): Promise<void> {
  // All accept from one queue. If the primary passed connections on instead, one that it gives to a process which is killed
  // just then would stay open without an answer.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  relayMetrics();
  const running = new Set<Worker>();
  const restarts = new Set<NodeJS.Timeout>();
  let isStopping = false;

  function start(failures: number): Worker {
    const worker = cluster.fork();
    const startedAt = performance.now();
    running.add(worker);
    worker.once('exit', (code, signal) => {
      running.delete(worker);
      if (isStopping) return;
      const count = performance.now() - startedAt < STEADY_MS ? failures + 1 : 1;
      const waitMs = Math.min(MIN_BACKOFF_MS * 2 ** (count - 1), MAX_BACKOFF_MS);
      log.error({ process: worker.process.pid, code, signal, waitMs }, 'server process ended: starting another');
      const timer = setTimeout(() => {
        restarts.delete(timer);
        start(count);
      }, waitMs);
      restarts.add(timer);
    });
    return worker;
  }

  async function stop(): Promise<void> {
    isStopping = true;
    for (const timer of restarts) clearTimeout(timer);
    const ended = Promise.all([...running].map((worker) => once(worker, 'exit')));
    for (const worker of running) worker.process.kill('SIGTERM');
    const graceMs = (config.drainSeconds + config.shutdownSeconds) * 1000 + MARGIN_MS;
    const outOfTime = setTimeout(() => {
      log.error({ processes: [...running].map((worker) => worker.process.pid) }, 'server processes killed: too slow');
      for (const worker of running) worker.process.kill('SIGKILL');
    }, graceMs);
    await ended;
    clearTimeout(outOfTime);
  }

  // The first alone, so that a port in use ends the start, and is reported once.
  const first = start(0);
  const listening = once(first, 'listening').then(() => true);
  const outcome = await Promise.race([listening, once(first, 'exit').then(() => false), stopped]);
  if (outcome === false) {
    await stop();
    throw new ProcessNotStarted('The server process could not start.');
  }
  if (outcome === true) {
    for (let number = 1; number < config.processes; number++) start(0);
    log.info({ processes: config.processes }, 'server processes started');
    await stopped;
  }
  await stop();
}

/** The process itself has written the reason. */
export class ProcessNotStarted extends Error {
  override name = 'ProcessNotStarted';
}
