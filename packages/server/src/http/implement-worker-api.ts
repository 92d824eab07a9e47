import { createHash, timingSafeEqual } from 'node:crypto';
import { workerApi } from '@review/contract';
import type { AppRoute } from '@ts-rest/core';
import { createExpressEndpoints } from '@ts-rest/express';
import { type Express, json, type Request, type RequestHandler, type Response } from 'express';
import type { Deps } from '../deps.ts';
import { workerHandlers } from '../workers/handlers.ts';
import { goneSignal } from './gone.ts';
import { refuseInvalid } from './invalid-request.ts';
import { ProblemError } from './problem.ts';

interface ParsedRequest {
  query?: unknown;
  body?: unknown;
  req: Request;
  res: Response;
}

/** The private interface of the workers: the bearer is the token that server and workers share. */
export function mountWorkerApi(app: Express, deps: Deps): void {
  const handlers: Record<string, (request: never) => Promise<unknown>> = workerHandlers(deps);
  const routes: Record<string, AppRoute> = workerApi;
  createExpressEndpoints(
    routes,
    Object.fromEntries(
      Object.entries(routes).map(([verb, route]) => [
        verb,
        async ({ query, body, req: request, res: response }: ParsedRequest) => {
          const base = `${request.protocol}://${request.get('host')}`;
          const signal = goneSignal(response);
          // The route's own schemas have parsed what the handler is given, which TypeScript cannot follow from here.
          const answer = await handlers[verb]?.({
            id: String(request.params['id']),
            query,
            body,
            base,
            signal,
          } as never);
          return { status: 204 in route.responses ? (204 as const) : (200 as const), body: answer };
        },
      ]),
    ),
    app,
    {
      responseValidation: true,
      logInitialization: false,
      globalMiddleware: [requireWorker(deps.config.workerToken), json({ limit: '4mb' })],
      requestValidationErrorHandler: refuseInvalid,
    },
  );
}

function requireWorker(token: string): RequestHandler {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(`Bearer ${token}`);
  return (request, response, next) => {
    response.locals.operation = 'worker';
    if (!timingSafeEqual(digest(request.get('authorization') ?? ''), expected)) {
      throw new ProblemError('INVALID_CREDENTIAL', {
        detail: 'The WORKER_TOKEN of the worker and of the server differ.',
        headers: { 'WWW-Authenticate': 'Bearer' },
      });
    }
    next();
  };
}
