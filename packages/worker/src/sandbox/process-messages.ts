import type { SandboxRequest } from './request.ts';

export interface ProcessJob {
  request: SandboxRequest;
  path: string;
}

/** The end of a job has the memory that the process holds after it, in bytes. */
export type ProcessNews = { progress: number } | { memory: number; failed?: unknown };
