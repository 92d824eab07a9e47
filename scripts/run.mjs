// Runs one command at a time and forwards signals to it. Plain JavaScript without dependencies, like bootstrap.mjs.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @type {import('node:child_process').ChildProcess | undefined} */
let running;
/**
 * The signal that stopped the bootstrap, if any.
 * @type {NodeJS.Signals | undefined}
 */
export let stoppedBy;

/**
 * Runs a command with its output on stderr. Throws unless it succeeds.
 * @param {string} command
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} environment
 * @param {'ignore' | 2} output
 */
export async function mustRun(command, args, environment, output = 2) {
  const code = await run(command, args, { environment }, ['ignore', output, 2]);
  if (code !== 0) throw new Error(`${command} ${args[0]} exited with code ${code}`);
}

/**
 * Runs a command and returns its exit code, 128 + n if signal n ended it.
 * @param {string} command
 * @param {string[]} args
 * @param {{ environment: NodeJS.ProcessEnv }} ready
 * @param {import('node:child_process').StdioOptions} stdio
 * @param {(text: string) => void} [onOutput]
 * @returns {Promise<number>}
 */
export function run(command, args, ready, stdio = 'inherit', onOutput) {
  return new Promise((settle, fail) => {
    if (stoppedBy) return settle(128 + constants.signals[stoppedBy]);
    const child = spawn(command, args, { cwd: root, env: ready.environment, stdio });
    running = child;
    if (onOutput) for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', onOutput);
    child.once('error', fail);
    child.once('close', (code, signal) => {
      running = undefined;
      settle(code ?? 128 + constants.signals[signal ?? 'SIGTERM']);
    });
  });
}

/** Passes SIGTERM, SIGHUP and SIGINT on to the running command as SIGTERM. */
export function forwardSignals() {
  /**
   * @param {NodeJS.Signals} signal
   * @param {number} delayMs
   */
  const stop = (signal, delayMs) => {
    // The terminal and npm both send the signal.
    if (stoppedBy === signal) return;
    stoppedBy = signal;
    if (!running) process.exit(128 + constants.signals[signal]);
    setTimeout(() => running?.kill('SIGTERM'), delayMs).unref();
  };
  process.on('SIGTERM', () => stop('SIGTERM', 0));
  process.on('SIGHUP', () => stop('SIGHUP', 0));
  // The terminal sends SIGINT to the child as well, so the child gets a second to exit by itself.
  process.on('SIGINT', () => stop('SIGINT', 1000));
  // A killed npm forwards no signal, so a change of the parent process counts as SIGTERM.
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && stop('SIGTERM', 0), 500).unref();
}
