import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Made, Order } from './thread.ts';

const MOST_THREADS = Math.min(2, availableParallelism());
const MOST_MS = 90_000;

/** From source it is TypeScript, which Node runs as it is; from the build it is JavaScript. */
const THREAD_FILE = new URL(`./thread${extname(import.meta.url)}`, import.meta.url);

let working = 0;
const waiting: (() => void)[] = [];

/** Makes a document of a language model's answer, in a thread: a long text takes seconds, and the worker has other work. */
export async function makeDocument(order: Order, signal: AbortSignal): Promise<Made> {
  if (working < MOST_THREADS) working++;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await inThread(order, AbortSignal.any([signal, AbortSignal.timeout(MOST_MS)]));
  } finally {
    const next = waiting.shift();
    if (next) next();
    else working--;
  }
}

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
