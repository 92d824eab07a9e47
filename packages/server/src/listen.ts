import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { BODY_LIMITS, limitBody } from './http/body-timeout.ts';
import { refuseBadAddress, refuseBadRequests, refuseWithoutHost } from './http/client-error.ts';
import { type Drain, drainable } from './http/drain.ts';
import type { Listener } from './http/listener.ts';
import { responsesUnderWay } from './http/under-way.ts';

// An import would read every export of the module, of which one loads undici in 50 ms.
const { createServer } = process.getBuiltinModule('node:http');

/** Longer than the usual 60 s of a proxy, so that the proxy closes idle connections first and loses no request. */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_MS = 30_000;
/** The minimum time between two warnings: a system short of memory fails to accept many connections at once. */
const WARNINGS_MS = 1000;
const CHECKS_PER_HEADERS_TIMEOUT = 4;

interface Listening extends AsyncDisposable {
  port: number;
  /** Sends `Connection: close` and serves requests for that time, so that proxies can switch to another server. */
  drain(seconds: number): Promise<void>;
}

/** Serves requests until disposed. Requests in flight then have `graceSeconds` to finish. */
export async function listen(
  app: Listener,
  address: { host: string; port: number },
  graceSeconds: number,
  bodyLimits = BODY_LIMITS,
  headersMs = HEADERS_MS,
): Promise<Listening> {
  const options = {
    // It would limit the total time of an upload; `limitBody` limits its idle time instead.
    requestTimeout: 0,
    headersTimeout: headersMs,
    connectionsCheckingInterval: headersMs / CHECKS_PER_HEADERS_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requireHostHeader: false,
    ...app.messages,
  };
  const server = createServer(options, (request, response) => {
    if (refuseWithoutHost(request, response) || refuseBadAddress(request, response)) return;
    limitBody(request, response, bodyLimits);
    app(request, response);
  });
  const underWay = responsesUnderWay(server);
  refuseBadRequests(server, underWay);
  const drain = drainable(server, underWay);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  });
  let lastWarning = Number.NEGATIVE_INFINITY;
  // The server continues: other connections are still served.
  server.on('error', (error) => {
    if (performance.now() - lastWarning < WARNINGS_MS) return;
    lastWarning = performance.now();
    app.log?.warn({ err: error }, 'a connection could not be accepted');
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async drain(seconds) {
      drain.begin();
      if (seconds === 0) return;
      await delay(seconds * 1000);
      await drain.quiet();
    },
    [Symbol.asyncDispose]: () => close(server, graceSeconds, drain),
  };
}

async function close(server: Server, graceSeconds: number, drain: Drain): Promise<void> {
  drain.begin();
  await drain.backlogEmpty();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A keep-alive connection that becomes idle later would delay the close until its timeout.
  const closeIdle = setInterval(() => server.closeIdleConnections(), 50);
  const outOfTime = new AbortController();
  await Promise.race([closed, delay(graceSeconds * 1000, undefined, { signal: outOfTime.signal }).catch(() => {})]);
  outOfTime.abort();
  clearInterval(closeIdle);
  server.closeAllConnections();
  await closed;
}
