import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Slots } from '../media/slots.ts';
import type { Made, Order } from './thread.ts';

const MOST_THREADS = Math.min(2, availableParallelism());
const MOST_MS = 90_000;

/** From source it is TypeScript, which Node runs as it is; from the build it is JavaScript. */
const THREAD_FILE = new URL(`./thread${extname(import.meta.url)}`, import.meta.url);

const slots = new Slots(MOST_THREADS);

/** Makes a document of a language model's answer, in a thread: a long text takes seconds, and the worker has other work. */
export const makeDocument = (order: Order, signal: AbortSignal): Promise<Made> =>
  slots.run(signal, () => inThread(order, AbortSignal.any([signal, AbortSignal.timeout(MOST_MS)])));

async function inThread(order: Order, signal: AbortSignal): Promise<Made> {
  signal.throwIfAborted();
  const worker = new Worker(THREAD_FILE, { workerData: order, execArgv: [] });
  try {
    return await new Promise<Made>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', (code) => reject(new Error(`the thread ended with code ${code}`)));
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  } finally {
    await worker.terminate();
  }
}
