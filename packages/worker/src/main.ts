import { hostname } from 'node:os';
import { createWorkerClient } from '@review/client';
import { pino } from 'pino';
import { ConfigError, readConfig } from './config.ts';
import { serveHealth } from './health.ts';
import { sayHello } from './hello.ts';

async function main(): Promise<void> {
  const config = readConfig(process.env, { name: hostname(), pid: process.pid });
  const log = pino({ level: config.logLevel });
  const stopping = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      // Kept on: a second signal must not cut off what the first one lets finish.
      process.on(signal, () => {
        if (!stopping.signal.aborted) log.info({ signal }, 'stopping');
        stopping.abort();
        resolve();
      });
    }
  });
  await using _health = config.port === null ? null : await serveHealth(config.port);
  // Keeps the process alive while it waits for work.
  const alive = setInterval(() => {}, 60_000);
  try {
    const server = createWorkerClient({ baseUrl: config.serverUrl, token: config.token });
    const engine = await sayHello(server, config.name, log, stopping.signal);
    log.info({ engine, server: config.serverUrl }, 'ready');
    await stopped;
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
  } finally {
    clearInterval(alive);
  }
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' && 'port' in error) {
    return `Port ${error.port} is taken by another program. Choose another with WORKER_PORT=<number>.`;
  }
  return error instanceof Error ? error.message : String(error);
}

main().catch((error: unknown) => {
  console.error(explain(error));
  process.exitCode = 1;
});
