import { createHash, timingSafeEqual } from 'node:crypto';
import { workerApi } from '@review/contract';
import { createExpressEndpoints } from '@ts-rest/express';
import { type Express, json, type RequestHandler } from 'express';
import { now } from '../db/time.ts';
import type { Deps } from '../deps.ts';
import { recordFamilies } from '../workers/queries.ts';
import { refuseInvalid } from './invalid-request.ts';
import { ProblemError } from './problem.ts';

/** The private interface of the workers: the bearer is the token that server and workers share. */
export function mountWorkerApi(app: Express, deps: Deps): void {
  const { db, config } = deps;
  createExpressEndpoints(
    workerApi,
    {
      hello: async ({ body }) => {
        await db.transaction().execute((trx) => recordFamilies(trx, body.worker, body.families, now()));
        return { status: 200, body: { data: { engine: config.engine } } };
      },
    },
    app,
    {
      responseValidation: true,
      logInitialization: false,
      globalMiddleware: [requireWorker(config.workerToken), json({ limit: config.bodyLimit })],
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
