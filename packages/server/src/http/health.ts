import { Router } from 'express';
import { isReachable } from '../db/open.ts';
import type { Deps } from '../deps.ts';

/** Whether the server should be sent requests; turned off first when it stops. */
export interface Readiness {
  accepting: boolean;
}

export function health({ db, metrics, config }: Deps, readiness: Readiness): Router {
  return Router()
    .get('/healthz', (_request, response) => {
      response.json({ status: 'ok' });
    })
    .get('/readyz', async (_request, response) => {
      const database = (await isReachable(db)) ? 'ok' : 'down';
      const ready = readiness.accepting && database === 'ok';
      const status = ready ? 'ok' : readiness.accepting ? 'down' : 'stopping';
      response.status(ready ? 200 : 503).json({ status, database, engine: config.engine });
    })
    .get('/metrics', async (_request, response) => {
      response.type(metrics.contentType).send(await metrics.metrics());
    });
}
