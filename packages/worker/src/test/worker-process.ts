import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Finished {
  code: number | null;
  output: string;
  errors: string;
}

export interface WorkerProcess extends AsyncDisposable {
  /** Resolves with the log line once the worker has logged the message. */
  logged(message: string): Promise<Record<string, unknown>>;
  stop(signal?: NodeJS.Signals): void;
  finished: Promise<Finished>;
}

/** Starts the built worker as a process with only these settings. */
export function startWorker(settings: Record<string, string>, words: string[] = []): WorkerProcess {
  const file = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
  const { NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [file, ...words], {
    env: { NODE_COMPILE_CACHE, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors] = ['', ''];
  const listeners = new Set<() => void>();
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes.toString();
    for (const listener of listeners) listener();
  });
  child.stderr.on('data', (bytes: Buffer) => {
    errors += bytes.toString();
  });
  const finished = new Promise<Finished>((resolve) => {
    child.once('close', (code) => resolve({ code, output, errors }));
  });
  const logged = (message: string) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      const look = () => {
        const lines = output
          .split('\n')
          .slice(0, -1)
          .map((line): Record<string, unknown> => JSON.parse(line));
        const found = lines.find((line) => line['msg'] === message);
        if (found !== undefined) resolve(found);
      };
      listeners.add(look);
      look();
      void finished.then(() => reject(new Error(`the worker ended without logging "${message}": ${errors}`)));
    });
  return {
    logged,
    stop: (signal = 'SIGTERM') => void child.kill(signal),
    finished,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await finished;
    },
  };
}
