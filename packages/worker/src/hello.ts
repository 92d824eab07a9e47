import { setTimeout as delay } from 'node:timers/promises';
import { ApiProblem, type WorkerClient } from '@review/client';
import type { Engine, WorkerReport } from '@review/contract';
import type { Logger } from 'pino';

const HEARTBEAT_MS = 5000;

/** Tells the server what this worker can do, as often as it takes, and learns which engine runs. */
export async function sayHello(
  server: WorkerClient,
  report: WorkerReport,
  log: Logger,
  signal: AbortSignal,
): Promise<Engine> {
  for (let attempt = 0; ; attempt++) {
    try {
      const { data } = await server.register({ body: report }, { signal });
      return data.engine;
    } catch (error) {
      // A token that the server refuses stays refused.
      if (signal.aborted || (error instanceof ApiProblem && error.status === 401)) throw error;
      if (attempt === 0) log.warn('the server does not answer yet; trying until it does');
      await delay(Math.min(5000, 200 * 2 ** attempt), undefined, { signal });
    }
  }
}

/** Reports that this worker is alive. It says no goodbye: one that restarts within 30 seconds has never been away. */
export function keepReporting(
  server: WorkerClient,
  reportNow: () => WorkerReport,
  log: Logger,
  everyMs = HEARTBEAT_MS,
): Disposable {
  const timer = setInterval(() => {
    server
      .heartbeat({ body: reportNow() }, { signal: AbortSignal.timeout(everyMs) })
      .catch((error: unknown) => log.debug({ err: error }, 'a heartbeat was not taken'));
  }, everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
