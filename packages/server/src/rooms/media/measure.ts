import { instantOf } from '@review/contract';
import type { Deps } from '../../deps.ts';
import { registerGauge } from '../../metrics.ts';
import { findBacklog } from './tasks.ts';

/** Registers the metrics of files whose media no worker reads yet. */
export function measureMedia(deps: Pick<Deps, 'db' | 'clock' | 'metrics' | 'log'>): void {
  const { db, clock } = deps;
  registerGauge(deps, {
    name: 'media_queue_depth',
    help: 'Files whose media no worker reads yet.',
    aggregator: 'first',
    read: async (gauge) => gauge.set((await findBacklog(db, { now: clock() })).depth),
  });
  registerGauge(deps, {
    name: 'media_queue_oldest_seconds',
    help: 'Seconds that the media of the longest waiting file is due.',
    aggregator: 'first',
    async read(gauge) {
      const { oldestAt } = await findBacklog(db, { now: clock() });
      gauge.set(oldestAt === null ? 0 : Math.max(0, (Date.now() - instantOf(oldestAt)) / 1000));
    },
  });
}
