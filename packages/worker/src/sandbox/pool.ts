import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { SandboxRequest } from './request.ts';
import type { ThreadJob, ThreadNews } from './thread-messages.ts';

interface Job {
  message: ThreadJob;
  onProgress: (fraction: number) => void;
  settle: { resolve: () => void; reject: (reason: unknown) => void };
}

interface Thread {
  worker: Worker;
  job: Job | null;
}

const MOST_THREADS = Math.min(2, availableParallelism());

/** From source it is TypeScript, which Node runs as it is; from the build it is JavaScript. */
const THREAD_FILE = new URL(`./render-thread${extname(import.meta.url)}`, import.meta.url);

const threads = new Set<Thread>();
const waiting: Job[] = [];

/** Makes the file in a thread of its own; when the signal fires, it is settled as soon as the thread has let go of the file. */
export async function renderInThread(
  request: SandboxRequest,
  path: string,
  onProgress: (fraction: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  const stop = new SharedArrayBuffer(4);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const job: Job = { message: { request, path, stop }, onProgress, settle: { resolve, reject } };
  const giveUp = () => {
    Atomics.store(new Int32Array(stop), 0, 1);
    const place = waiting.indexOf(job);
    if (place >= 0) {
      waiting.splice(place, 1);
      reject(signal?.reason);
    }
  };
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    // A shared library that only threads have loaded is torn down with the last of them, and takes the process with it.
    await import('sharp');
    signal?.throwIfAborted();
    waiting.push(job);
    assign();
    await promise;
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

/** Gives up what is under way and ends the threads; a later rendering starts new ones. */
export async function closeThreads(): Promise<void> {
  for (const job of waiting.splice(0)) job.settle.reject(new Error('The sandbox was closed.'));
  await Promise.all([...threads].map(closeThread));
}

async function closeThread(thread: Thread): Promise<void> {
  threads.delete(thread);
  if (thread.job) {
    // Ended in the middle of a native call, a thread crashes the whole process: let it come to its checkpoint first.
    Atomics.store(new Int32Array(thread.job.message.stop), 0, 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    thread.worker.on('message', (news: ThreadNews) => {
      if (!('progress' in news)) resolve();
    });
    thread.worker.on('exit', () => resolve());
    await promise;
  }
  await thread.worker.terminate();
}

function assign(): void {
  while (waiting.length > 0) {
    const thread = freeThread();
    const job = thread && waiting.shift();
    if (!job) return;
    thread.job = job;
    thread.worker.ref();
    thread.worker.postMessage(job.message);
  }
}

function freeThread(): Thread | undefined {
  for (const thread of threads) if (thread.job === null) return thread;
  return threads.size < MOST_THREADS ? startThread() : undefined;
}

function startThread(): Thread {
  const thread: Thread = { worker: new Worker(THREAD_FILE, { execArgv: [] }), job: null };
  threads.add(thread);
  const finish = (end: (settle: Job['settle']) => void) => {
    const { job } = thread;
    thread.job = null;
    if (job) end(job.settle);
  };
  thread.worker.on('message', (news: ThreadNews) => {
    if ('progress' in news) {
      thread.job?.onProgress(news.progress);
      return;
    }
    // An idle thread does not keep the process alive.
    thread.worker.unref();
    finish(({ resolve, reject }) => ('done' in news ? resolve() : reject(news.failed)));
    assign();
  });
  const lose = (reason: unknown) => {
    threads.delete(thread);
    finish(({ reject }) => reject(reason));
    assign();
  };
  thread.worker.on('error', lose);
  thread.worker.on('exit', (code) => lose(new Error(`The rendering thread ended with code ${code}.`)));
  return thread;
}
