import { setTimeout as delay } from 'node:timers/promises';
import { Router } from 'express';
import { releaseVersion } from '../config/release.ts';
import { latestMigration } from '../db/migrate.ts';
import type { Deps } from '../deps.ts';
import { diagnose } from '../doctor/diagnose.ts';
import { workersHealth } from '../doctor/workers-health.ts';
import type { WorkerGuard } from '../http/implement-worker-api.ts';
import type { Readiness } from '../request/readiness.ts';
import { singleFlight } from '../single-flight.ts';
import { measureDependencies } from './measure.ts';

/** The timeout of each check, so that a probe is answered within a second. */
const CHECK_TIMEOUT_MS = 500;

export function health(deps: Deps, readiness: Readiness, requireWorker: WorkerGuard): Router {
  const { opened, storage, dispatcher, log, metrics, config } = deps;
  const isDatabaseUp = probe(() => opened.isReachable());
  // All servers share these and answer most requests without them, so that the server stays ready if one is down.
  const optional = {
    storage: probe(() => storage.isReachable()),
    engine: probe(async () => dispatcher === null || dispatcher.isReachable()),
    workers: probe(async () => (await workersHealth(deps)).status === 'ok'),
  };
  measureDependencies(deps, { database: isDatabaseUp, storage: optional.storage, engine: optional.engine });
  const examine = singleFlight(() => diagnose(deps));
  const about = { version: releaseVersion(), migration: latestMigration() };
  let lastSummary = 'ok';

  async function assess() {
    const [database, ...others] = await Promise.all([
      isDatabaseUp(),
      ...Object.entries(optional).map(async ([part, isUp]) => ((await isUp()) ? [] : [part])),
    ]);
    const degraded = others.flat();
    const working = degraded.length === 0 ? 'ok' : 'degraded';
    const status = readiness.accepting ? (database ? working : 'down') : 'stopping';
    const summary = [status, ...degraded].join(' ');
    const isStarting = summary === 'degraded workers' && performance.now() < (readiness.workersDueAt ?? 0);
    if (summary !== lastSummary && !isStarting) {
      log[status === 'ok' || status === 'stopping' ? 'info' : 'warn']({ status, degraded }, `readiness is ${status}`);
      lastSummary = summary;
    }
    return { status, database, degraded };
  }

  return Router({ caseSensitive: true, strict: true })
    .get('/healthz', (_request, response) => {
      response.json({ status: 'ok' });
    })
    .get('/version', (_request, response) => {
      response.json(about);
    })
    .get('/readyz', async (request, response) => {
      // Not by address: behind a proxy on the same host, every caller comes from loopback.
      const isVerbose = request.query['verbose'] !== undefined;
      if (isVerbose) await requireWorker(request, response);
      const findings = isVerbose ? await examine() : undefined;
      const { status, database, degraded } = await assess();
      const state = (isUp: boolean) => (isUp ? 'ok' : 'down');
      response.status(['ok', 'degraded'].includes(status) ? 200 : 503).json({
        status,
        database: state(database),
        storage: state(!degraded.includes('storage')),
        engine: config.engine,
        degraded,
        ...(findings && { findings }),
      });
    })
    .get('/metrics', async (_request, response) => {
      response.type(metrics.contentType).send(await metrics.metrics());
    });
}

/** Concurrent probes share one check, so that hanging checks do not pile up. */
function probe(check: () => Promise<boolean>): () => Promise<boolean> {
  const run = singleFlight(() => check().catch(() => false));
  return () => Promise.race([run(), delay(CHECK_TIMEOUT_MS, false, { ref: false })]);
}
