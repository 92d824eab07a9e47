import { FAMILIES, instantOf } from '@review/contract';
import { Gauge } from 'prom-client';
import type { Deps } from '../../deps.ts';
import { stateOf } from '../workers/abilities.ts';
import { listLiving } from '../workers/queries.ts';
import { listQueues, type QueueDeps } from './waiting.ts';

const EVERY_MS = 5000;

/** Says once when generations begin to wait for a worker that is not there, and once when they no longer do. */
export function watchQueue(deps: QueueDeps & Pick<Deps, 'log'>, everyMs = EVERY_MS): Disposable {
  let [waiting, running] = [false, false];
  const look = async () => {
    const lacking = (await listQueues(deps)).filter(({ withoutWorker }) => withoutWorker > 0);
    const families = Object.fromEntries(lacking.map(({ family, withoutWorker }) => [family, withoutWorker]));
    if (lacking.length > 0 && !waiting) deps.log.warn({ families }, WAITING);
    if (lacking.length === 0 && waiting) deps.log.info('no generation waits for a worker any more');
    waiting = lacking.length > 0;
  };
  const timer = setInterval(async () => {
    if (running) return;
    running = true;
    await look().catch((error: unknown) => deps.log.debug({ err: error }, 'the queue could not be looked at'));
    running = false;
  }, everyMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

const WAITING = 'generations wait, and no living worker can make them: start one, or give one the key';

/** What `/metrics` tells of the queue and of the workers: asked of the database when it is asked for. */
export function measureQueue(deps: QueueDeps & Pick<Deps, 'metrics' | 'log'>): void {
  const { db, clock, metrics } = deps;
  const gauge = (name: string, help: string, labelNames: string[], fill: (gauge: Gauge) => Promise<void>) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [metrics],
      async collect() {
        // Without a database the other metrics are still told.
        await fill(this).catch((error: unknown) => deps.log.debug({ err: error }, `${name} could not be measured`));
      },
    });
  const perFamily = async (own: Gauge, measure: (queue: { depth: number; oldestAt: string }) => number) => {
    const queues = new Map((await listQueues(deps)).map((queue) => [queue.family, queue]));
    for (const family of FAMILIES) {
      const queue = queues.get(family);
      own.set({ family }, queue ? measure(queue) : 0);
    }
  };
  gauge('generation_queue_depth', 'Generations that wait to be started, by family.', ['family'], (own) =>
    perFamily(own, ({ depth }) => depth),
  );
  gauge('generation_queue_oldest_seconds', 'How long the oldest of them has waited.', ['family'], (own) =>
    perFamily(own, ({ oldestAt }) => Math.max(0, (Date.now() - instantOf(oldestAt)) / 1000)),
  );
  gauge(
    'workers_alive',
    'Workers with a recent heartbeat, by what they can do of a family.',
    ['family', 'state'],
    async (own) => {
      const living = await listLiving(db, clock);
      own.reset();
      for (const family of FAMILIES) {
        for (const state of ['live', 'sandbox', 'misconfigured'] as const) {
          own.set({ family, state }, living.filter((worker) => stateOf(worker, family) === state).length);
        }
      }
    },
  );
}
