import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const repository = resolve(import.meta.dirname, '..');

/** Runs the script of `npm start` without npm and build, in its own process group. */
export class DevProcess {
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
  output = '';

  constructor(settings: { readonly DATA_DIR: string; readonly PORT: string }) {
    // No settings of the host environment: they could redirect the service to other data.
    const { PATH, HOME, TMPDIR } = process.env;
    this.child = spawn(process.execPath, ['scripts/dev.ts'], {
      cwd: repository,
      env: { PATH, HOME, TMPDIR, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
    }
    this.exit = once(this.child, 'close').then(([code]) => code);
  }

  /** Waits for the start-up summary and returns the value after the label. */
  async readValue(label: string): Promise<string> {
    while (!this.output.includes('Ctrl-C stops')) {
      if (this.child.exitCode !== null)
        throw new Error(`npm start exited with code ${this.child.exitCode}:\n${this.output}`);
      await sleep(50);
    }
    const value = new RegExp(`^ *${label} +(\\S+)$`, 'm').exec(this.output)?.[1];
    if (value === undefined) throw new Error(`the output lacks "${label}":\n${this.output}`);
    return value;
  }

  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM');
    return this.exit;
  }

  /** Whether any process of the group is still running, including grandchildren. */
  get leftovers(): boolean {
    return this.#signalGroup(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signalGroup('SIGKILL');
    await this.exit;
  }

  #signalGroup(signal: NodeJS.Signals | 0): boolean {
    try {
      return this.child.pid !== undefined && process.kill(-this.child.pid, signal);
    } catch {
      return false;
    }
  }
}
