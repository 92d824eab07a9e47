import { type WorkerApi, workerApi } from '@review/contract';
import { type Call, type ClientOptions, callsOf } from './client.ts';

/** What a worker may ask the server; the token is the WORKER_TOKEN both share. */
export type WorkerClient = { [Verb in keyof WorkerApi]: Call<WorkerApi[Verb]> };

export function createWorkerClient(options: ClientOptions): WorkerClient {
  const calls: Record<string, unknown> = callsOf(workerApi, options);
  // Built from the contract itself, name by name, which the type of `fromEntries` cannot show.
  return calls as WorkerClient;
}
