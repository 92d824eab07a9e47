import { hash, timingSafeEqual } from 'node:crypto';
import { PARTS_BODY_LIMIT, WORKER_API_VERSION, WORKER_API_VERSION_HEADER } from '@review/contract';
import type { Request, Response } from 'express';
import type { Deps } from '../deps.ts';
import { ProblemError } from '../request/problem.ts';
import { workerHandlers } from '../rooms/worker-api/handlers.ts';
import { bind, serializer } from './bind.ts';
import { disconnectSignal } from './disconnect-signal.ts';
import { NOT_WRITING } from './idempotency.ts';
import { carryOut, workerOperations } from './operations.ts';
import type { RateLimiter } from './rate-limit.ts';
import { readJson } from './read-body.ts';
import type { RouteTable } from './route-table.ts';

/** Enters the routes of the private worker API. Workers authenticate with the shared WORKER_TOKEN. */
export function enterWorkerApi(table: RouteTable, deps: Deps, requireWorker: WorkerGuard): void {
  bind(table, workerOperations(workerHandlers(deps), deps.config), (operation) => {
    const serialize = serializer(operation.route);
    return async ({ query, request, response }) => {
      response.locals.operation = 'worker';
      response.setHeader(WORKER_API_VERSION_HEADER, WORKER_API_VERSION);
      const answer = await carryOut(operation, {
        authorize: async () => {
          await requireWorker(request, response);
          const base = `${request.protocol}://${request.get('host')}`;
          return { subject: null, id: String(request.params['id']), base };
        },
        read: async () => ({ query, body: await readJson(request, PARTS_BODY_LIMIT) }),
        queryPointer: '#query',
        begin: async () => NOT_WRITING,
        disconnected: () => disconnectSignal(response),
      });
      return serialize(answer);
    };
  });
}

/** Throws unless the request has the worker token. */
export type WorkerGuard = (request: Request, response: Response) => Promise<void>;

/** Requires the worker token. A wrong token counts against the address's limit of failed credentials. */
export function workerGuard(token: string, limiter: RateLimiter): WorkerGuard {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  const expected = digest(`Bearer ${token}`);
  return async (request, response) => {
    if (timingSafeEqual(digest(request.get('authorization') ?? ''), expected)) return;
    await limiter.countFailure(request, response);
    throw new ProblemError('INVALID_CREDENTIAL', {
      detail: 'The worker token is not that of the server. Set the same WORKER_TOKEN for both.',
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  };
}
