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
  made: number;
  /** Ends it when it has had nothing to do for a while. */
  idle: NodeJS.Timeout | undefined;
}

const MOST_RENDERERS = Math.min(2, availableParallelism());
/** Encoders and libraries keep the memory of their largest pictures: only the end of a process gives all of it back. */
const IDLE_MS = 5000;
const MOST_JOBS = 20;

/** From source it is TypeScript, which Node runs as it is; from the build it is JavaScript. */
const PROCESS_FILE = fileURLToPath(new URL(`./render-process${extname(import.meta.url)}`, import.meta.url));

const renderers = new Set<Renderer>();
const waiting: Job[] = [];

/** Makes the file in a process of its own; when the signal fires, it is settled once nothing writes to the file any more. */
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

/** Gives up what is under way and ends the processes; a later rendering starts new ones. */
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
  return renderers.size < MOST_RENDERERS ? startRenderer() : undefined;
}

function startRenderer(): Renderer {
  const child = fork(PROCESS_FILE, { execArgv: [], serialization: 'advanced' });
  const renderer: Renderer = { child, job: null, made: 0, idle: undefined };
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
    renderer.made += 1;
    finish(({ resolve, reject }) => ('done' in news ? resolve() : reject(news.failed)));
    if (renderer.made >= MOST_JOBS) void closeRenderer(renderer);
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

/** An idle process does not keep this one alive. */
function keepAlive({ child }: Renderer, isBusy: boolean): void {
  if (isBusy) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}
