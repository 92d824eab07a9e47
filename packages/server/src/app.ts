import cors from 'cors';
import express, { type Express } from 'express';
import type { Deps } from './deps.ts';
import { compressAnswers } from './http/compress.ts';
import { refuseWhileDraining } from './http/drain.ts';
import { errorHandler, notFound } from './http/error-handler.ts';
import { createGuard } from './http/guard.ts';
import { enterContract } from './http/implement.ts';
import { enterWorkerApi, workerGuard } from './http/implement-worker-api.ts';
import { observe } from './http/observe.ts';
import { allOperations } from './http/operations.ts';
import { overrideMethod } from './http/query-method.ts';
import { routeTable } from './http/route-table.ts';
import { serveConsole } from './pages/console.ts';
import { documents } from './pages/documents.ts';
import { health } from './pages/health.ts';
import type { Readiness } from './request/readiness.ts';
import { measureQueue } from './rooms/generation/queue-watch.ts';
import { rooms } from './rooms/index.ts';
import { measureMedia } from './rooms/media/measure.ts';
import { measureWebhooks } from './rooms/webhooks/measure.ts';
import { mountTools } from './tools/mount.ts';

/** Creates the Express app of the service. Middleware runs in the order of this list. */
export function createApp(deps: Deps, readiness: Readiness = { accepting: true }): Express {
  const { config } = deps;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('trust proxy', config.trustProxy);

  app.use(observe(deps));
  if (config.corsOrigins.length > 0)
    app.use(cors({ origin: config.corsOrigins, methods: METHODS, exposedHeaders: EXPOSED, maxAge: 600 }));
  app.use(overrideMethod);
  const guard = createGuard(deps);
  const requireWorker = workerGuard(config.workerToken, guard.limiter);
  app.use(refuseWhileDraining(readiness));
  const operations = allOperations(rooms(deps), config);
  const table = routeTable();
  enterContract(table, deps, guard, operations, (db) => allOperations(rooms({ ...deps, db }), config));
  enterWorkerApi(table, deps, requireWorker);
  // Before the other routers, which would try each of their routes on every request.
  app.use(table.handle);
  app.use(health(deps, readiness, requireWorker));
  // After the metrics of the pool, which would otherwise count the queries of these.
  measureQueue(deps);
  measureMedia(deps);
  measureWebhooks(deps);
  // Before the compression, because stored files are served uncompressed.
  if (deps.storage.router) app.use(deps.storage.router);
  app.use(compressAnswers);
  app.use(documents(deps));
  mountTools(app, deps, guard, operations);
  if (config.consoleDirectory !== null) app.use(serveConsole(config.consoleDirectory, deps.storage));
  app.use(notFound);
  app.use(errorHandler(deps));
  return app;
}

const METHODS = ['GET', 'HEAD', 'QUERY', 'POST', 'PUT', 'PATCH', 'DELETE'];
const EXPOSED = [
  'X-Request-Id',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Idempotency-Replayed',
  'ETag',
  'Location',
  'WWW-Authenticate',
  'Content-Disposition',
  'Content-Range',
  'Accept-Ranges',
];
