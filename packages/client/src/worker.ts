import { type WorkerApi, workerApi } from '@review/contract';
import { type Call, type ClientOptions, createCalls, createTransport } from './client.ts';

/** A typed client of the worker API. The token is the shared WORKER_TOKEN. */
export type WorkerClient = { [Verb in keyof WorkerApi]: Call<WorkerApi[Verb]> };

/** Creates a client without retries and timeouts, because the worker has its own. */
export function createWorkerClient(
  given: Pick<ClientOptions, 'baseUrl' | 'token' | 'headers' | 'fetch'>,
): WorkerClient {
  const options = { ...given, retries: 0, timeoutMs: Number.POSITIVE_INFINITY };
  const calls: Record<string, unknown> = createCalls(
    workerApi,
    createTransport(options, { sendsIdempotencyKeys: false, overridesQuery: false }),
  );
  // Built from the contract; `Object.fromEntries` loses the types.
  return calls as WorkerClient;
}
