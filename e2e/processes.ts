import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** A long run says a lot; only the end of it is looked at. */
const KEPT_OUTPUT = 1_000_000;

/** A program of the test's own: ended by its id, at the latest when the test is over. */
export class Program implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
  output = '';

  constructor(command: string, args: readonly string[], settings: Record<string, string>) {
    // Nothing of the machine's own settings: they could point the service elsewhere.
    const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
    this.child = spawn(command, args, {
      env: { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output = (this.output + text).slice(-KEPT_OUTPUT);
      });
    }
    const takeAlong = () => void this.child.kill('SIGKILL');
    process.once('exit', takeAlong);
    this.exit = once(this.child, 'close').then(([code]) => {
      process.off('exit', takeAlong);
      return code;
    });
  }

  async said(text: string): Promise<void> {
    await until(`"${text}" is said`, () => {
      if (this.child.exitCode !== null) throw new Error(`it ended with ${this.child.exitCode}:\n${this.output}`);
      return this.output.includes(text);
    });
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    this.child.kill(signal);
    return this.exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

/** What a short-lived program prints on standard output; its failure is an error. */
export async function printed(command: string, args: readonly string[], settings: Record<string, string> = {}) {
  const program = new Program(command, args, settings);
  let text = '';
  program.child.stdout?.on('data', (part: string) => {
    text += part;
  });
  const code = await program.exit;
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}:\n${program.output}`);
  return text;
}

/** Looks until there is something to see, and gives it back. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  milliseconds = 30_000,
): Promise<Exclude<T, false | undefined | null>> {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    const seen = await look();
    if (isSeen(seen)) return seen;
    if (performance.now() > deadline) throw new Error(`not within ${milliseconds} ms: ${what}`);
    await sleep(50);
  }
}

const isSeen = <T>(value: T): value is Exclude<T, false | undefined | null> =>
  value !== false && value !== undefined && value !== null;
