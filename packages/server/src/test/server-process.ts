import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.ts';

export interface Finished {
  code: number | null;
  output: string;
  errors: string;
}

export interface RunningProcess extends AsyncDisposable {
  process: ChildProcess;
  finished: Promise<Finished>;
}

export interface ServerProcess extends RunningProcess {
  url: string;
}

/** Runs a built program of this package as a process with these settings only. */
export function runProgram(path: string, settings: Record<string, string>, words: string[] = []): RunningProcess {
  const folder = mkdtempSync(join(tmpdir(), 'review-process-'));
  const file = fileURLToPath(new URL(`../../dist/${path}`, import.meta.url));
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [file, ...words], {
    env: { PATH, NODE_COMPILE_CACHE, DATA_DIR: folder, CONSOLE_DIR: 'off', RATE_LIMITS: 'off', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes.toString();
  });
  child.stderr.on('data', (bytes: Buffer) => {
    errors += bytes.toString();
  });
  const finished = new Promise<Finished>((resolve) => {
    child.once('close', (code) => {
      rmSync(folder, { recursive: true, force: true });
      resolve({ code, output, errors });
    });
  });
  return {
    process: child,
    finished,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await finished;
    },
  };
}

/** Starts the server and waits until it listens. `onLine` receives each line of its log. */
export async function startServer(
  settings: Record<string, string>,
  onLine: (line: string) => void = () => {},
): Promise<ServerProcess> {
  const running = runProgram('main.js', { PORT: '0', ...settings });
  if (running.process.stdout) createInterface(running.process.stdout).on('line', onLine);
  const port = await Promise.race([
    new Promise<number>((resolve) => {
      let seen = '';
      running.process.stdout?.on('data', (bytes: Buffer) => {
        seen += bytes.toString();
        const found = /"port":(\d+).*"msg":"server listening"/.exec(seen)?.[1];
        if (found !== undefined) resolve(Number(found));
      });
    }),
    running.finished.then(({ errors }) => {
      throw new Error(`the server ended before it listened: ${errors}`);
    }),
  ]);
  return { ...running, url: `http://127.0.0.1:${port}` };
}

/** Polls, because a check of /readyz ends after half a second and a machine that starts several servers can be slower. */
export const becomesReady = ({ url }: ServerProcess) =>
  eventually(async () => (await fetch(`${url}/readyz`)).status === 200, 'the server is ready');
