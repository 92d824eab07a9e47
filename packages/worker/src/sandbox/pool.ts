import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessJob, ProcessNews } from './process-messages.ts';
import type { SandboxRequest } from './request.ts';

interface Job {
  message: ProcessJob;
  onProgress: (fraction: number) => void;
  settle: { resolve: () => void; reject: (reason: unknown) => void };
}

interface Renderer {
  child: ChildProcess;
  job: Job | null;
  /** Closes the renderer after a while without a job. */
  idle: NodeJS.Timeout | undefined;
}

const MAX_RENDERERS = Math.min(2, availableParallelism());
/** Idle renderers and large ones are closed, because encoders and libraries keep the memory of their largest picture. */
const IDLE_MS = 5000;
const MAX_MEMORY = 300 * 1024 ** 2;

/** `.ts` when the worker runs from the sources, `.js` from the build. */
const PROCESS_FILE = fileURLToPath(new URL(`./render-process${extname(import.meta.url)}`, import.meta.url));

const renderers = new Set<Renderer>();
const waiting: Job[] = [];

/** Renders the file in a child process. After an abort, the promise settles once the process no longer writes to the file. */
export async function renderInProcess(
  request: SandboxRequest,
  path: string,
  onProgress: (fraction: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const job: Job = { message: { request, path }, onProgress, settle: { resolve, reject } };
  const giveUp = () => {
    const place = waiting.indexOf(job);
    if (place >= 0) {
      waiting.splice(place, 1);
      reject(signal?.reason);
    }
    for (const renderer of renderers) if (renderer.job === job) renderer.child.kill('SIGKILL');
  };
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    waiting.push(job);
    assign();
    await promise;
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

/** Rejects pending jobs and ends the processes. A later job starts new ones. */
export async function closeRenderers(): Promise<void> {
  for (const job of waiting.splice(0)) job.settle.reject(new Error('The sandbox was closed.'));
  await Promise.all([...renderers].map(closeRenderer));
}

async function closeRenderer(renderer: Renderer): Promise<void> {
  renderers.delete(renderer);
  clearTimeout(renderer.idle);
  const { child } = renderer;
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.ref();
  child.kill('SIGKILL');
  await ended;
}

function assign(): void {
  while (waiting.length > 0) {
    const renderer = freeRenderer();
    const job = renderer && waiting.shift();
    if (!job) return;
    clearTimeout(renderer.idle);
    renderer.job = job;
    keepAlive(renderer, true);
    renderer.child.send(job.message);
  }
}

function freeRenderer(): Renderer | undefined {
  for (const renderer of renderers) if (renderer.job === null) return renderer;
  return renderers.size < MAX_RENDERERS ? startRenderer() : undefined;
}

function startRenderer(): Renderer {
  const child = fork(PROCESS_FILE, { execArgv: [], serialization: 'advanced' });
  const renderer: Renderer = { child, job: null, idle: undefined };
  renderers.add(renderer);
  const finish = (end: (settle: Job['settle']) => void) => {
    const { job } = renderer;
    renderer.job = null;
    if (job) end(job.settle);
  };
  child.on('message', (news: ProcessNews) => {
    if ('progress' in news) {
      renderer.job?.onProgress(news.progress);
      return;
    }
    keepAlive(renderer, false);
    finish(({ resolve, reject }) => ('failed' in news ? reject(news.failed) : resolve()));
    if (news.memory > MAX_MEMORY) void closeRenderer(renderer);
    assign();
    if (renderer.job === null) renderer.idle = setTimeout(() => void closeRenderer(renderer), IDLE_MS).unref();
  });
  const lose = (reason: unknown) => {
    renderers.delete(renderer);
    clearTimeout(renderer.idle);
    finish(({ reject }) => reject(reason));
    assign();
  };
  child.on('error', lose);
  child.on('exit', (code, signal) => lose(new Error(`The rendering process ended with ${code ?? signal}.`)));
  return renderer;
}

/** Keeps this process alive only while the renderer is busy. */
function keepAlive({ child }: Renderer, isBusy: boolean): void {
  if (isBusy) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}
