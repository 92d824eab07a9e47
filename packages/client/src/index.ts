export * from './client.ts';
export * from './problem.ts';
export * from './worker.ts';
