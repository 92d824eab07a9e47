import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** Only the end of a long output is kept. */
const MAX_OUTPUT_LENGTH = 1_000_000;

/** A child process, killed at the latest when the test process exits. */
export class Program implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
  output = '';

  constructor(command: string, args: readonly string[], settings: Record<string, string>) {
    // No settings of the host environment: they could redirect the service to other data.
    const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
    this.child = spawn(command, args, {
      env: { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output = (this.output + text).slice(-MAX_OUTPUT_LENGTH);
      });
    }
    const killChild = () => void this.child.kill('SIGKILL');
    process.once('exit', killChild);
    this.exit = once(this.child, 'close').then(([code]) => {
      process.off('exit', killChild);
      return code;
    });
  }

  async waitForOutput(text: string): Promise<void> {
    await until(`the output contains "${text}"`, () => {
      this.assertRunning();
      return this.output.includes(text);
    });
  }

  assertRunning(): void {
    if (this.child.exitCode !== null)
      throw new Error(`the process exited with code ${this.child.exitCode}:\n${this.output}`);
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    this.child.kill(signal);
    return this.exit;
  }

  /** Stops the process for a while: it keeps its connections and answers nothing. */
  async pause(milliseconds: number): Promise<void> {
    this.child.kill('SIGSTOP');
    await sleep(milliseconds);
    this.child.kill('SIGCONT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

/** Runs a program and returns its standard output. Throws if it fails. */
export async function readOutput(command: string, args: readonly string[], settings: Record<string, string> = {}) {
  const program = new Program(command, args, settings);
  let text = '';
  program.child.stdout?.on('data', (part: string) => {
    text += part;
  });
  const code = await program.exit;
  if (code !== 0) throw new Error(`${args.join(' ')} exited with code ${code}:\n${program.output}`);
  return text;
}

/** Polls `look` until it returns a value other than false, undefined or null, and returns that value. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  milliseconds = 60_000,
): Promise<Exclude<T, false | undefined | null>> {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    const seen = await look();
    if (isPresent(seen)) return seen;
    if (performance.now() > deadline) throw new Error(`timed out after ${milliseconds} ms: ${what}`);
    await sleep(50);
  }
}

const isPresent = <T>(value: T): value is Exclude<T, false | undefined | null> =>
  value !== false && value !== undefined && value !== null;
