import { Router } from 'express';
import { isReachable } from '../db/open.ts';
import type { Deps } from '../deps.ts';

/** Whether the server should be sent requests; turned off first when it stops. */
export interface Readiness {
  accepting: boolean;
}

export function health({ db, storage, metrics, config }: Deps, readiness: Readiness): Router {
  return Router({ caseSensitive: true, strict: true })
    .get('/healthz', (_request, response) => {
      response.json({ status: 'ok' });
    })
    .get('/readyz', async (_request, response) => {
      const [database, stored] = await Promise.all([isReachable(db), storage.isReachable()]);
      const ready = readiness.accepting && database && stored;
      const status = ready ? 'ok' : readiness.accepting ? 'down' : 'stopping';
      const state = (reachable: boolean) => (reachable ? 'ok' : 'down');
      response
        .status(ready ? 200 : 503)
        .json({ status, database: state(database), storage: state(stored), engine: config.engine });
    })
    .get('/metrics', async (_request, response) => {
      response.type(metrics.contentType).send(await metrics.metrics());
    });
}
