import type { Server, ServerResponse } from 'node:http';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { ProblemError } from '../request/problem.ts';
import type { Readiness } from '../request/readiness.ts';
import type { UnderWay } from './under-way.ts';

/** Without a new connection for this long, proxies are taken to have stopped using the server. */
const QUIET_MS = 200;
const MAX_WAIT_FOR_QUIET_MS = 2000;
/** The longest event loop turn after which the backlog counts as empty. A connection that arrives within it is reset. */
const MAX_TURN_MS = 0.2;
const MAX_WAIT_FOR_TURN_MS = 1000;
const REFUSAL_INTERVAL_MS = 2000;

export interface Drain {
  /**
   * Adds `Connection: close` to all responses whose headers are not sent yet. A proxy then keeps no idle connection on
   * which it could send a request while the server closes it.
   */
  begin(): void;
  /** Resolves when no connection was opened for 200 ms, or after two seconds. */
  quiet(): Promise<void>;
  /** Resolves right after a short turn of the event loop without an accept, because closing a listener resets its backlog. */
  backlogEmpty(): Promise<void>;
}

export function drainable(server: Server, underWay: UnderWay): Drain {
  let isDraining = false;
  let [accepted, lastAccept] = [0, 0];
  const askToClose = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  server.on('connection', () => {
    accepted += 1;
    lastAccept = performance.now();
  });
  server.prependListener('request', (_request, response) => {
    if (isDraining) askToClose(response);
  });
  return {
    begin() {
      isDraining = true;
      for (const response of underWay) askToClose(response);
    },
    async quiet() {
      const deadline = performance.now() + MAX_WAIT_FOR_QUIET_MS;
      for (let now = performance.now(); now < deadline; now = performance.now()) {
        const left = lastAccept + QUIET_MS - now;
        if (left <= 0) return;
        await delay(left);
      }
    },
    async backlogEmpty() {
      const deadline = performance.now() + MAX_WAIT_FOR_TURN_MS;
      for (let isEmpty = false; !isEmpty && performance.now() < deadline; ) {
        const [before, acceptedBefore] = [performance.now(), accepted];
        await turn();
        isEmpty = accepted === acceptedBefore && performance.now() - before < MAX_TURN_MS;
      }
    },
  };
}

/**
 * While the server drains, answers 503 to one read every two seconds if the proxy retries it at another server
 * (`X-Retry-On: 503`). A proxy without active health checks then marks this server as down. Reads in between are served,
 * because the proxy may retry at this server.
 */
export function refuseWhileDraining(readiness: Readiness): RequestHandler {
  let lastRefusal = Number.NEGATIVE_INFINITY;
  return (request, _response, next) => {
    if (readiness.accepting) return next();
    const isRetryable = ['GET', 'HEAD'].includes(request.method) && request.get('x-retry-on') === '503';
    const now = performance.now();
    if (!isRetryable || now - lastRefusal < REFUSAL_INTERVAL_MS) return next();
    lastRefusal = now;
    throw new ProblemError('NOT_READY', {
      detail: 'This server is shutting down. Retry the request.',
      headers: { 'Retry-After': '1' },
    });
  };
}
