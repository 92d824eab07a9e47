import { FAMILIES, instantOf } from '@review/contract';
import { Gauge } from 'prom-client';
import type { Deps } from '../../deps.ts';
import { stateOf } from '../workers/abilities.ts';
import { listLiving } from '../workers/queries.ts';
import { listQueues, type QueueDeps } from './waiting.ts';

const INTERVAL_MS = 5000;

/** Logs once when generations begin to wait for a missing worker, and once when none waits any more. */
export function watchQueue(deps: QueueDeps & Pick<Deps, 'log'>, intervalMs = INTERVAL_MS): Disposable {
  let [waiting, running] = [false, false];
  const look = async () => {
    const lacking = (await listQueues(deps)).filter(({ withoutWorker }) => withoutWorker > 0);
    const families = Object.fromEntries(lacking.map(({ family, withoutWorker }) => [family, withoutWorker]));
    if (lacking.length > 0 && !waiting) deps.log.warn({ families }, WAITING);
    if (lacking.length === 0 && waiting) deps.log.info('generations no longer wait for a worker');
    waiting = lacking.length > 0;
  };
  const timer = setInterval(async () => {
    if (running) return;
    running = true;
    await look().catch((error: unknown) => deps.log.debug({ err: error }, 'queue not checked'));
    running = false;
  }, intervalMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

const WAITING = 'generations wait: no living worker can run them; start a worker, or give one the key';

/** Registers the metrics of the queue and the workers. They query the database on each scrape. */
export function measureQueue(deps: QueueDeps & Pick<Deps, 'metrics' | 'log'>): void {
  const { db, clock, metrics } = deps;
  const gauge = (name: string, help: string, labelNames: string[], fill: (gauge: Gauge) => Promise<void>) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [metrics],
      // Each process reads the same database: their values are not added up.
      aggregator: 'first',
      async collect() {
        // A failed query must not hide the other metrics.
        await fill(this).catch((error: unknown) => deps.log.debug({ err: error }, `metric ${name} not collected`));
      },
    });
  const perFamily = async (own: Gauge, measure: (queue: { depth: number; oldestAt: string }) => number) => {
    const queues = new Map((await listQueues(deps)).map((queue) => [queue.family, queue]));
    for (const family of FAMILIES) {
      const queue = queues.get(family);
      own.set({ family }, queue ? measure(queue) : 0);
    }
  };
  gauge('generation_queue_depth', 'Queued generations, by family.', ['family'], (own) =>
    perFamily(own, ({ depth }) => depth),
  );
  gauge(
    'generation_queue_oldest_seconds',
    'Age of the oldest queued generation in seconds, by family.',
    ['family'],
    (own) => perFamily(own, ({ oldestAt }) => Math.max(0, (Date.now() - instantOf(oldestAt)) / 1000)),
  );
  gauge('workers_alive', 'Workers with a recent heartbeat, by family and state.', ['family', 'state'], async (own) => {
    const living = await listLiving(db, clock);
    own.reset();
    for (const family of FAMILIES) {
      for (const state of ['live', 'sandbox', 'misconfigured'] as const) {
        own.set({ family, state }, living.filter((worker) => stateOf(worker, family) === state).length);
      }
    }
  });
}
