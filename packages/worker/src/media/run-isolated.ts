import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';

export interface Limits {
  /** Wall-clock time since the start of the process. */
  milliseconds: number;
  memoryMegabytes: number;
  outputBytes: number;
}

/** The process exceeded a limit, or the decoder crashed on its input. Not retried. */
export class DecodeError extends Error {
  override name = 'DecodeError';
}

interface Job {
  /** The name of a module in this folder, without its extension. */
  program: string;
  words: readonly string[];
  input?: Buffer;
  limits: Limits;
  signal: AbortSignal;
}

const WATCH_EVERY_MS = 50;

/** Signals of a decoder that crashed on its input. Any other signal comes from the operator or the out-of-memory killer. */
const CRASHES: ReadonlySet<string> = new Set(['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP']);

/**
 * Runs a program in a child process and returns its output. A native decoder inside the worker could not be interrupted,
 * and would occupy one of the few threads that file access and DNS share. A child process can be killed.
 */
export async function runIsolated({ program, words, input, limits, signal }: Job): Promise<Buffer> {
  signal.throwIfAborted();
  const { milliseconds, memoryMegabytes, outputBytes } = limits;
  // `.ts` when the worker runs from the sources, `.js` from the build.
  const file = new URL(`./${program}${extname(import.meta.url)}`, import.meta.url).pathname;
  const child = spawn(process.execPath, ['--max-old-space-size=256', file, String(milliseconds), ...words], {
    // No provider keys: hostile input may take over the process.
    env: {},
    // Only the worker receives the terminal's SIGINT, so that running steps can finish.
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const fail = (reason: unknown) => {
    reject(reason);
    child.kill('SIGKILL');
  };
  const abort = () => fail(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const seconds = Math.ceil(milliseconds / 1000);
  const timer = setTimeout(() => fail(new DecodeError(`takes more than ${seconds} seconds to read`)), milliseconds);
  const watch = setInterval(() => {
    if (residentMegabytes(child) > memoryMegabytes) {
      fail(new DecodeError(`takes more than ${memoryMegabytes} MB of memory to read`));
    }
  }, WATCH_EVERY_MS);
  const chunks: Buffer[] = [];
  let length = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > outputBytes) fail(new DecodeError(`has more than ${outputBytes / 1024 / 1024} MB once it is decoded`));
  });
  // EPIPE of a process that has ended; its exit code or signal is reported instead.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  child.once('error', reject);
  child.once('close', (code, killedBy) => {
    if (code === 0) resolve(Buffer.concat(chunks, length));
    else if (killedBy !== null && !CRASHES.has(killedBy)) reject(new Error(`${program} was ended by ${killedBy}`));
    else reject(new DecodeError('crashes the decoder'));
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    signal.removeEventListener('abort', abort);
  }
}

/** Returns 0 on hosts without /proc, where only the limits on pixels and time apply. */
function residentMegabytes({ pid }: ChildProcess): number {
  try {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return Number(kilobytes) / 1024;
  } catch {
    return 0;
  }
}
