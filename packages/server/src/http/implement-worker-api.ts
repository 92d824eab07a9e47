import { createHash, timingSafeEqual } from 'node:crypto';
import { PARTS_BODY_LIMIT, workerApi } from '@review/contract';
import type { AppRoute } from '@ts-rest/core';
import { createExpressEndpoints } from '@ts-rest/express';
import type { Express, Request, RequestHandler, Response } from 'express';
import type { Deps } from '../deps.ts';
import { ProblemError } from '../request/problem.ts';
import { workerHandlers } from '../rooms/worker-api/handlers.ts';
import { disconnectSignal } from './disconnect-signal.ts';
import { refuseInvalid } from './invalid-request.ts';
import type { RateLimiter } from './rate-limit.ts';
import { readJson } from './read-body.ts';

interface ParsedRequest {
  query?: unknown;
  body?: unknown;
  req: Request;
  res: Response;
}

/** Mounts the private API of the workers. They authenticate with the shared WORKER_TOKEN. */
export function mountWorkerApi(app: Express, deps: Deps, limiter: RateLimiter): void {
  const routes: Record<string, AppRoute> = workerApi;
  createExpressEndpoints(routes, endpointsOf(workerApi, workerHandlers(deps)), app, {
    responseValidation: true,
    logInitialization: false,
    globalMiddleware: [requireWorker(deps.config.workerToken, limiter), readJson(PARTS_BODY_LIMIT)],
    requestValidationErrorHandler: refuseInvalid,
  });
}

type AnyHandler = (request: never) => Promise<unknown>;

function endpointsOf<Verb extends string>(api: Record<Verb, AppRoute>, handlers: Record<Verb, AnyHandler>) {
  const endpoints: Record<string, ReturnType<typeof carryOut>> = {};
  for (const verb in api) endpoints[verb] = carryOut(api[verb], handlers[verb]);
  return endpoints;
}

const carryOut =
  (route: AppRoute, handler: AnyHandler) =>
  async ({ query, body, req: request, res: response }: ParsedRequest) => {
    const base = `${request.protocol}://${request.get('host')}`;
    const signal = disconnectSignal(response);
    const id = String(request.params['id']);
    // The route's schemas have parsed the request; TypeScript cannot infer that here.
    const answer = await handler({ id, query, body, base, signal } as never);
    return { status: 204 in route.responses ? (204 as const) : (200 as const), body: answer };
  };

/** Requires the worker token. A wrong token counts against the address's limit of failed credentials. */
function requireWorker(token: string, limiter: RateLimiter): RequestHandler {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(`Bearer ${token}`);
  return async (request, response, next) => {
    response.locals.operation = 'worker';
    if (!timingSafeEqual(digest(request.get('authorization') ?? ''), expected)) {
      await limiter.countFailure(request, response);
      throw new ProblemError('INVALID_CREDENTIAL', {
        detail: 'The worker token is not that of the server. Set the same WORKER_TOKEN for both.',
        headers: { 'WWW-Authenticate': 'Bearer' },
      });
    }
    next();
  };
}
