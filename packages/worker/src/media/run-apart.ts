import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';

export interface Limits {
  /** By the clock on the wall, from the start of the process. */
  milliseconds: number;
  memoryMegabytes: number;
  outputBytes: number;
}

/** The process was killed for a limit, or the decoder crashed: the input is at fault, and a retry would end the same way. */
export class DecodeError extends Error {
  override name = 'DecodeError';
}

interface Job {
  /** A program beside this file, without its extension. */
  program: string;
  words: readonly string[];
  input?: Buffer;
  limits: Limits;
  signal: AbortSignal;
}

const WATCH_EVERY_MS = 50;

/** How a decoder dies of its input. Any other signal comes from the outside: the operator, or a host without memory. */
const CRASHES: ReadonlySet<string> = new Set(['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP']);

/**
 * Runs a program in a process of its own and gives back what it wrote. A native decoder cannot be interrupted inside
 * this process, and while it runs it takes one of the few threads that files and DNS need too. A process can be killed.
 */
export async function runApart({ program, words, input, limits, signal }: Job): Promise<Buffer> {
  signal.throwIfAborted();
  const { milliseconds, memoryMegabytes, outputBytes } = limits;
  // From source it is TypeScript, which Node runs as it is; from the build it is JavaScript.
  const file = new URL(`./${program}${extname(import.meta.url)}`, import.meta.url).pathname;
  const child = spawn(process.execPath, ['--max-old-space-size=256', file, String(milliseconds), ...words], {
    // No provider keys: what is decoded may take the process over.
    env: {},
    // An interrupt from the terminal goes to the worker alone, which lets running steps finish.
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
  // A process that has ended no longer reads: how it ended says more.
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

/** Hosts without /proc do not tell: there the limits on pixels and time have to do. */
function residentMegabytes({ pid }: ChildProcess): number {
  try {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return Number(kilobytes) / 1024;
  } catch {
    return 0;
  }
}
