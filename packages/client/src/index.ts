export type { CallOptions } from './call.ts';
export { type Call, type Client, type ClientOptions, createClient, type RequestOf, type ResultOf } from './client.ts';
export { ApiProblem } from './problem.ts';
export { createWorkerClient, type WorkerClient } from './worker.ts';
