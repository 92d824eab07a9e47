import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Express } from 'express';
import { drainable } from './http/drain.ts';

export interface Listening extends AsyncDisposable {
  port: number;
  /** Asks callers to close their connections; requests are still answered. */
  drain(): void;
}

/** Serves until disposed of; requests in flight then have `graceSeconds` to finish. */
export async function listen(
  app: Express,
  address: { host: string; port: number },
  graceSeconds: number,
): Promise<Listening> {
  const server = createServer({ requestTimeout: 120_000, headersTimeout: 30_000 }, app);
  const drain = drainable(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { port, drain, [Symbol.asyncDispose]: () => close(server, graceSeconds, drain) };
}

async function close(server: Server, graceSeconds: number, drain: () => void): Promise<void> {
  drain();
  // Right after a poll nothing waits to be accepted: closing the listener would reset such connections.
  await new Promise((resolve) => setImmediate(resolve));
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A kept-alive connection that goes idle later would otherwise hold the server until its own timeout.
  const closeIdle = setInterval(() => server.closeIdleConnections(), 50);
  const outOfTime = new AbortController();
  await Promise.race([closed, delay(graceSeconds * 1000, undefined, { signal: outOfTime.signal }).catch(() => {})]);
  outOfTime.abort();
  clearInterval(closeIdle);
  server.closeAllConnections();
  await closed;
}
