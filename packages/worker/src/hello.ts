import { setTimeout as delay } from 'node:timers/promises';
import { ApiProblem, type WorkerClient } from '@review/client';
import type { FamilyState } from '@review/contract';
import type { Logger } from 'pino';

/** Tells the server which families this worker serves, as often as it takes, and learns which engine runs. */
export async function sayHello(
  server: WorkerClient,
  worker: string,
  families: FamilyState[],
  log: Logger,
  signal: AbortSignal,
): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    try {
      const { data } = await server.hello({ body: { worker, families } }, { signal });
      return data.engine;
    } catch (error) {
      // A token that the server refuses stays refused.
      if (signal.aborted || (error instanceof ApiProblem && error.status === 401)) throw error;
      if (attempt === 0) log.warn('the server does not answer yet; trying until it does');
      await delay(Math.min(5000, 200 * 2 ** attempt), undefined, { signal });
    }
  }
}
