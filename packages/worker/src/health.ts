import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, type Registry } from 'prom-client';

/** Serves `GET /healthz` and `GET /metrics`. */
export async function serveHealth(port: number, metrics: Registry): Promise<AsyncDisposable & { port: number }> {
  collectDefaultMetrics({ register: metrics });
  const server = createServer(async (request, response) => {
    if (request.url === '/healthz') response.setHeader('content-type', 'application/json').end('{"status":"ok"}');
    else if (request.url === '/metrics')
      response.setHeader('content-type', metrics.contentType).end(await metrics.metrics());
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
