import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Semaphore } from '../semaphore.ts';
import type { Made, Order } from './thread.ts';

const MAX_THREADS = Math.min(2, availableParallelism());
const MAX_MS = 90_000;

/** `.ts` when the worker runs from the sources, `.js` from the build. */
const THREAD_FILE = new URL(`./thread${extname(import.meta.url)}`, import.meta.url);

const threads = new Semaphore(MAX_THREADS);

/** Renders a language model's answer as a document. Runs in a thread, because a long text takes seconds of CPU time. */
export const makeDocument = (order: Order, signal: AbortSignal): Promise<Made> =>
  threads.run(() => makeInThread(order, AbortSignal.any([signal, AbortSignal.timeout(MAX_MS)])), signal);

async function makeInThread(order: Order, signal: AbortSignal): Promise<Made> {
  signal.throwIfAborted();
  const worker = new Worker(THREAD_FILE, { workerData: order, execArgv: [] });
  try {
    return await new Promise<Made>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', (code) => reject(new Error(`document thread ended with code ${code}`)));
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  } finally {
    await worker.terminate();
  }
}
