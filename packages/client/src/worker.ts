import { type WorkerApi, workerApi } from '@review/contract';
import type { AppRouteFunction, ClientArgs, ClientInferResponseBody } from '@ts-rest/core';
import { type ClientOptions, callsOf } from './client.ts';

/** What a worker may ask the server; the token is the WORKER_TOKEN both share. */
export type WorkerClient = {
  [Verb in keyof WorkerApi]: (
    ...request: Parameters<AppRouteFunction<WorkerApi[Verb], ClientArgs>>
  ) => Promise<ClientInferResponseBody<WorkerApi[Verb], 200>>;
};

export function createWorkerClient(options: ClientOptions): WorkerClient {
  // Built from the contract itself, name by name, which the type of `fromEntries` cannot show.
  return callsOf(workerApi, options) as WorkerClient;
}
