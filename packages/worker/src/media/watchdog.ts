import { extname } from 'node:path';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

const LOOK_EVERY_MS = 500;

/**
 * Kills this process and those that it has started when its worker dies, or after its time if the worker fails to do so. A
 * thread looks, because a decoder may occupy the main thread for ever.
 */
export function startWatchdog(milliseconds: number): void {
  const file = new URL(`./watchdog${extname(import.meta.url)}`, import.meta.url);
  new Worker(file, { workerData: { endAt: Date.now() + milliseconds + 1000, parent: process.ppid } }).unref();
}

if (!isMainThread) {
  const { endAt, parent }: { endAt: number; parent: number } = workerData;
  setInterval(() => {
    if (process.ppid !== parent || Date.now() > endAt) process.kill(-process.pid, 'SIGKILL');
  }, LOOK_EVERY_MS);
}
