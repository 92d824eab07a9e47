import { instantOf } from '@review/contract';
import type { Deps } from '../../deps.ts';
import { registerGauge } from '../../metrics.ts';
import { singleFlight } from '../../single-flight.ts';
import { findBacklog } from './tasks.ts';

/** Registers the metrics of files whose media no worker reads yet. */
export function measureMedia(deps: Pick<Deps, 'db' | 'clock' | 'metrics' | 'log'>): void {
  const { db, clock } = deps;
  // A scrape reads all metrics at the same time.
  const read = singleFlight(() => findBacklog(db, { now: clock() }));
  registerGauge(deps, {
    name: 'media_queue_depth',
    help: 'Files whose media no worker reads yet.',
    aggregator: 'first',
    read: async (gauge) => gauge.set((await read()).depth),
  });
  registerGauge(deps, {
    name: 'media_queue_oldest_seconds',
    help: 'Seconds that the media of the longest waiting file is due.',
    aggregator: 'first',
    async read(gauge) {
      const { oldestAt } = await read();
      gauge.set(oldestAt === null ? 0 : Math.max(0, (Date.now() - instantOf(oldestAt)) / 1000));
    },
  });
}
