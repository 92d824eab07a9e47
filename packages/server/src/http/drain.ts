import type { Server, ServerResponse } from 'node:http';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { ProblemError } from '../request/problem.ts';
import type { Readiness } from '../request/readiness.ts';

/** A proxy that has left the server opens no connection for this long. */
const QUIET_MS = 200;
const MAX_WAIT_FOR_QUIET_MS = 2000;
/** A connection that arrives in this time, between the last accept and the close, is reset. */
const MAX_TURN_MS = 0.2;
const MAX_WAIT_FOR_TURN_MS = 1000;
const BETWEEN_REFUSALS_MS = 2000;

export interface Drain {
  /**
   * Makes every answer from now on, and those under way, ask for its connection to be closed, so that a proxy keeps no idle
   * connection on which it could send a request just as the server closes it.
   */
  begin(): void;
  /** Resolves when no connection has come for a while. */
  quiet(): Promise<void>;
  /** Resolves right after a short turn of the event loop that accepted nothing: closing a listener resets its backlog. */
  backlogEmpty(): Promise<void>;
}

export function drainable(server: Server): Drain {
  const underWay = new Set<ServerResponse>();
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
    if (isDraining) return askToClose(response);
    underWay.add(response);
    response.once('close', () => underWay.delete(response));
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
 * While the server drains, refuses a read of a proxy that repeats it at another server (`X-Retry-On: 503`) every two seconds:
 * a proxy without health checks of its own learns from it that the server stops. Reads in between are answered, because the
 * proxy may repeat the refused one here.
 */
export function refuseWhileDraining(readiness: Readiness): RequestHandler {
  let lastRefusal = Number.NEGATIVE_INFINITY;
  return (request, _response, next) => {
    const isRepeated = ['GET', 'HEAD'].includes(request.method) && request.get('x-retry-on') === '503';
    const now = performance.now();
    if (readiness.accepting || !isRepeated || now - lastRefusal < BETWEEN_REFUSALS_MS) return next();
    lastRefusal = now;
    throw new ProblemError('NOT_READY', { detail: 'This server is about to stop.', headers: { 'Retry-After': '1' } });
  };
}
