import { FAMILIES, instantOf } from '@review/contract';
import type { Deps } from '../../deps.ts';
import { registerGauge } from '../../metrics.ts';
import { singleFlight } from '../../single-flight.ts';
import { stateOf } from '../workers/abilities.ts';
import { listLiving } from '../workers/queries.ts';
import { listPaused } from './paused-families.ts';
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

/** Registers the metrics of the queue and the workers. */
export function measureQueue(deps: QueueDeps & Pick<Deps, 'metrics' | 'log'>): void {
  // A scrape reads all metrics at the same time.
  const readQueues = singleFlight(() => listQueues(deps));
  const readLiving = singleFlight(() => listLiving(deps.db, deps.clock));
  const perFamily = (name: string, help: string, measure: (queue: { depth: number; oldestAt: string }) => number) =>
    registerGauge(deps, {
      name,
      help,
      labelNames: ['family'],
      aggregator: 'first',
      async read(gauge) {
        const queues = new Map((await readQueues()).map((queue) => [queue.family, queue]));
        for (const family of FAMILIES) {
          const queue = queues.get(family);
          gauge.set({ family }, queue ? measure(queue) : 0);
        }
      },
    });
  perFamily('generation_queue_depth', 'Queued generations, by family.', ({ depth }) => depth);
  perFamily(
    'generation_queue_oldest_seconds',
    'Age of the oldest queued generation in seconds, by family.',
    ({ oldestAt }) => Math.max(0, (Date.now() - instantOf(oldestAt)) / 1000),
  );
  registerGauge(deps, {
    name: 'workers_alive',
    help: 'Workers with a recent heartbeat, by family and state.',
    labelNames: ['family', 'state'],
    aggregator: 'first',
    async read(gauge) {
      const living = await readLiving();
      for (const family of FAMILIES) {
        for (const state of ['live', 'sandbox', 'misconfigured'] as const) {
          gauge.set({ family, state }, living.filter((worker) => stateOf(worker, family) === state).length);
        }
      }
    },
  });
  registerGauge(deps, {
    name: 'workers_draining',
    help: 'Workers with a recent heartbeat that take no new work.',
    aggregator: 'first',
    async read(gauge) {
      const living = await readLiving();
      gauge.set(living.filter(({ draining_since: since }) => since !== null).length);
    },
  });
  registerGauge(deps, {
    name: 'family_paused',
    help: 'Whether queued generations of the family are not started: 1 or 0.',
    labelNames: ['family'],
    aggregator: 'first',
    async read(gauge) {
      const paused = new Set((await listPaused(deps.db)).map(({ family }) => family));
      for (const family of FAMILIES) gauge.set({ family }, Number(paused.has(family)));
    },
  });
}
