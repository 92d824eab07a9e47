import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Express } from 'express';

export interface Listening extends AsyncDisposable {
  port: number;
}

/** Serves until disposed of; requests in flight then have `graceSeconds` to finish. */
export async function listen(
  app: Express,
  address: { host: string; port: number },
  graceSeconds: number,
): Promise<Listening> {
  const server = createServer({ requestTimeout: 120_000, headersTimeout: 30_000 }, app);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.asyncDispose]: () => close(server, graceSeconds) };
}

async function close(server: Server, graceSeconds: number): Promise<void> {
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
