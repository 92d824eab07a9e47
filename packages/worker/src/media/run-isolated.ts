import { type ChildProcess, spawn } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface Limits {
  /** Wall-clock time since the start of the process. */
  milliseconds: number;
  /** Of the process and the processes that it starts. */
  memoryMegabytes: number;
  /** Of standard output, and of the files in the output directory. */
  outputBytes: number;
}

/** The process exceeded a limit, or crashed. */
export class DecodeError extends Error {
  override name = 'DecodeError';
  readonly isLimit: boolean;

  constructor(message: string, { isLimit = false, cause }: { isLimit?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.isLimit = isLimit;
  }
}

interface Job {
  /** The name of a module in this folder, without its extension. */
  program: string;
  words: readonly string[];
  input?: Buffer;
  /** Where the program writes files. */
  output?: string;
  limits: Limits;
  signal: AbortSignal;
}

const WATCH_EVERY_MS = 50;
const HEAP_MEGABYTES = 256;
/** The end of what a crashed program has written to standard error, for the log. */
const MAX_STDERR = 2000;

/** Signals of a decoder that crashed on its input. Any other signal comes from the operator or the out-of-memory killer. */
const CRASHES: ReadonlySet<string> = new Set(['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP']);

/**
 * Runs a program in a child process and returns its output. A native decoder inside the worker could not be interrupted,
 * and would occupy one of the few threads that file access and DNS share. A child process can be killed.
 */
export async function runIsolated({ program, words, input, output, limits, signal }: Job): Promise<Buffer> {
  signal.throwIfAborted();
  const { milliseconds, memoryMegabytes, outputBytes } = limits;
  // `.ts` when the worker runs from the sources, `.js` from the build.
  const file = new URL(`./${program}${extname(import.meta.url)}`, import.meta.url).pathname;
  const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MEGABYTES}`, file, ...words], {
    // No provider keys: hostile input may take over the process.
    env: {},
    // A process group of its own: only the worker receives the terminal's SIGINT, so that running steps can finish, and the
    // programs that the process starts are killed with it.
    detached: true,
    stdio: 'pipe',
  });
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const fail = (reason: unknown) => {
    reject(reason);
    killGroup(child.pid);
  };
  const watcher = killGroupAtDeath(child.pid).once('error', fail);
  const exceed = (message: string) => fail(new DecodeError(message, { isLimit: true }));
  const tooMuch = `has more than ${outputBytes / 1024 / 1024} MB once it is decoded`;
  const abort = () => fail(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const seconds = Math.ceil(milliseconds / 1000);
  const timer = setTimeout(() => exceed(`takes more than ${seconds} seconds to read`), milliseconds);
  const watch = setInterval(() => {
    if (residentMegabytes(child.pid) > memoryMegabytes) {
      exceed(`takes more than ${memoryMegabytes} MB of memory to read`);
    }
    if (output !== undefined && writtenBytes(output) > outputBytes) exceed(tooMuch);
  }, WATCH_EVERY_MS);
  const chunks: Buffer[] = [];
  let length = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > outputBytes) exceed(tooMuch);
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-MAX_STDERR);
  });
  // EPIPE of a process that has ended; its exit code or signal is reported instead.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  child.once('error', reject);
  child.once('exit', () => killGroup(child.pid));
  child.once('close', (code, killedBy) => {
    if (code === 0) return resolve(Buffer.concat(chunks, length));
    if (complaint.includes('heap out of memory')) exceed(`takes more than ${HEAP_MEGABYTES} MB of memory to read`);
    const cause = new Error(`${program} was ended by ${killedBy ?? `exit code ${code}`}: ${complaint}`);
    reject(killedBy !== null && !CRASHES.has(killedBy) ? cause : new DecodeError('crashes the decoder', { cause }));
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    signal.removeEventListener('abort', abort);
    watcher.kill('SIGKILL');
  }
}

function writtenBytes(directory: string): number {
  try {
    return readdirSync(directory).reduce((sum, name) => sum + lstatSync(join(directory, name)).size, 0);
  } catch {
    // A file was renamed between the two calls.
    return 0;
  }
}

/**
 * Starts a shell that kills the group when this process dies, which closes the standard input of the shell. The program could not
 * watch itself: a decoder may occupy its main thread for ever, and another thread takes longer to start than most files to read.
 */
const killGroupAtDeath = (pid: number | undefined): ChildProcess =>
  spawn('/bin/sh', ['-c', 'read -r end; kill -s KILL -- "-$1"', 'sh', String(pid)], {
    env: {},
    // As above: it outlives a SIGINT that the worker survives.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of its processes have ended.
  }
}

/** Returns the memory of a process and its descendants; 0 on hosts without /proc, where only the limits on pixels and time apply. */
function residentMegabytes(pid: number | string | undefined): number {
  try {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return childrenOf(pid).reduce((sum, child) => sum + residentMegabytes(child), Number(kilobytes) / 1024);
  } catch {
    return 0;
  }
}

function childrenOf(pid: number | string | undefined): string[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean);
  } catch {
    // The kernel was built without this file.
    return [];
  }
}
