import { setTimeout as delay } from 'node:timers/promises';
import { Router } from 'express';
import type { Deps } from '../deps.ts';
import type { Readiness } from '../request/readiness.ts';
import { workersHealth } from './workers-health.ts';

/** The timeout of each check, so that a probe is answered within a second. */
const CHECK_TIMEOUT_MS = 700;

export function health(deps: Deps, readiness: Readiness): Router {
  const { opened, storage, dispatcher, log, metrics, config } = deps;
  const isDatabaseUp = probe(() => opened.isReachable());
  // All servers share these and answer most requests without them, so that the server stays ready if one is down.
  const optional = {
    storage: probe(() => storage.isReachable()),
    engine: probe(async () => dispatcher === null || dispatcher.isReachable()),
    workers: probe(async () => (await workersHealth(deps)).status === 'ok'),
  };
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
    .get('/readyz', async (_request, response) => {
      const { status, database, degraded } = await assess();
      const state = (isUp: boolean) => (isUp ? 'ok' : 'down');
      response.status(['ok', 'degraded'].includes(status) ? 200 : 503).json({
        status,
        database: state(database),
        storage: state(!degraded.includes('storage')),
        engine: config.engine,
        degraded,
      });
    })
    .get('/metrics', async (_request, response) => {
      response.type(metrics.contentType).send(await metrics.metrics());
    });
}

/** Shares one running check between concurrent probes, so that hanging checks do not pile up. */
function probe(check: () => Promise<boolean>): () => Promise<boolean> {
  let running: Promise<boolean> | undefined;
  return () => {
    running ??= check()
      .catch(() => false)
      .finally(() => {
        running = undefined;
      });
    return Promise.race([running, delay(CHECK_TIMEOUT_MS, false, { ref: false })]);
  };
}
