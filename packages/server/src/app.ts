import cors from 'cors';
import express, { type Express } from 'express';
import type { Deps } from './deps.ts';
import { compressAnswers } from './http/compress.ts';
import { refuseWhileDraining } from './http/drain.ts';
import { errorHandler, notFound } from './http/error-handler.ts';
import { createGuard } from './http/guard.ts';
import { enterContract } from './http/implement.ts';
import { enterWorkerApi, workerGuard } from './http/implement-worker-api.ts';
import { createListener, type Listener } from './http/listener.ts';
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

/** The service. `others` serves what is not in the contract. */
type App = Listener & { others: Express };

/** Creates the listener of the service: the steps of every request with the routes of the contract, then an Express app. */
export function createApp(deps: Deps, readiness: Readiness = { accepting: true }): App {
  const { config } = deps;
  const guard = createGuard(deps);
  const requireWorker = workerGuard(config.workerToken, guard.limiter);
  const operations = allOperations(rooms(deps), config);
  const table = routeTable();
  enterContract(table, deps, guard, operations, (db) => allOperations(rooms({ ...deps, db }), config));
  enterWorkerApi(table, deps, requireWorker);
  const steps = [
    observe(deps),
    ...(config.corsOrigins.length > 0
      ? [cors({ origin: config.corsOrigins, methods: METHODS, exposedHeaders: EXPOSED, maxAge: 600 })]
      : []),
    overrideMethod,
    refuseWhileDraining(readiness),
    table.handle,
  ];

  const others = express();
  others.disable('x-powered-by');
  others.disable('etag');
  others.enable('case sensitive routing');
  others.enable('strict routing');
  others.set('trust proxy', config.trustProxy);
  others.use(health(deps, readiness, requireWorker));
  // After the metrics of the pool, which would otherwise count the queries of these.
  measureQueue(deps);
  measureMedia(deps);
  measureWebhooks(deps);
  // Before the compression, because stored files are served uncompressed.
  if (deps.storage.router) others.use(deps.storage.router);
  others.use(compressAnswers);
  others.use(documents(deps));
  mountTools(others, deps, guard, operations);
  if (config.consoleDirectory !== null) others.use(serveConsole(config.consoleDirectory, deps.storage));
  others.use(notFound);
  others.use(errorHandler(deps));
  return Object.assign(createListener(steps, others, errorHandler(deps), deps), { others });
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
