import { setTimeout as delay } from 'node:timers/promises';
import { ApiProblem, backOffMs } from '@review/client';
import type { WorkerClient } from '@review/client/worker';
import type { Engine, WorkerReport } from '@review/contract';
import type { Logger } from 'pino';
import type { Drain } from './drain.ts';
import type { ServerVersion } from './server-version.ts';

const HEARTBEAT_MS = 5000;
const DELAYS = { firstDelayMs: 200, maxDelayMs: 5000 };

/**
 * Registers this worker and its families, and returns the server's engine. Retries until the server answers, and waits for the
 * upgrade of an older one: it would refuse reports of this worker, and orders at providers would be lost.
 */
export async function register(
  server: WorkerClient,
  version: ServerVersion,
  report: WorkerReport,
  log: Logger,
  signal: AbortSignal,
): Promise<Engine> {
  for (let attempt = 0; ; attempt++) {
    try {
      const { engine } = (await server.register({ body: report }, { signal })).data;
      if (!version.isOlder) return engine;
    } catch (error) {
      // A refused token is not retried.
      if (signal.aborted || (error instanceof ApiProblem && error.status === 401)) throw error;
      if (attempt === 0 && !version.isOlder) log.warn('server does not answer; retrying until it does');
    }
    await delay(backOffMs(DELAYS, attempt), undefined, { signal });
  }
}

/** Sends a heartbeat at each interval, and applies the answer to `drain`. There is no sign-off: a worker that restarts within 30 seconds never counts as away. */
export function startHeartbeat(
  server: WorkerClient,
  reportNow: () => WorkerReport,
  drain: Drain,
  log: Logger,
  everyMs = HEARTBEAT_MS,
): Disposable {
  const timer = setInterval(() => {
    server
      .heartbeat({ body: reportNow() }, { signal: AbortSignal.timeout(everyMs) })
      .then(({ data }) => drain.set('operator', data.draining))
      .catch((error: unknown) => log.debug({ err: error }, 'heartbeat failed'));
  }, everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
