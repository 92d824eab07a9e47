import type { SandboxRequest } from './request.ts';

export interface ThreadJob {
  request: SandboxRequest;
  path: string;
  /** One shared number; anything but zero asks the thread to give up. */
  stop: SharedArrayBuffer;
}

export type ThreadNews = { progress: number } | { done: true } | { failed: unknown };
