import { type WorkerApi, workerApi } from '@review/contract';
import { type Call, type ClientOptions, callsOf, lineOf } from './client.ts';

/** What a worker may ask the server; the token is the WORKER_TOKEN both share. */
export type WorkerClient = { [Verb in keyof WorkerApi]: Call<WorkerApi[Verb]> };

/** Tries once and takes its time: a worker knows by itself what it may ask again, and when. */
export function createWorkerClient({ baseUrl, token }: Pick<ClientOptions, 'baseUrl' | 'token'>): WorkerClient {
  const options = { baseUrl, token, retries: 0, timeoutMs: Number.POSITIVE_INFINITY };
  const calls: Record<string, unknown> = callsOf(workerApi, lineOf(options, { keyed: false, overrides: false }));
  // Built from the contract itself, name by name, which the type of `fromEntries` cannot show.
  return calls as WorkerClient;
}
