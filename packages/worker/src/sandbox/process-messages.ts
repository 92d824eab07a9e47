import type { SandboxRequest } from './request.ts';

export interface ProcessJob {
  request: SandboxRequest;
  path: string;
}

export type ProcessNews = { progress: number } | { done: true } | { failed: unknown };
