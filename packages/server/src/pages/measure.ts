import type { Deps } from '../deps.ts';
import { listFreeSpace } from '../doctor/storage.ts';
import { registerGauge } from '../metrics.ts';

/** A probe of each dependency. */
type Probes = Record<'database' | 'storage' | 'engine', () => Promise<boolean>>;

/** Registers the metrics of what the server depends on. */
export function measureDependencies(deps: Deps, probes: Probes): void {
  const { opened, projectNotifier, config } = deps;
  registerGauge(deps, {
    name: 'dependency_up',
    help: 'Whether the database, the storage and the engine respond: 1 or 0.',
    labelNames: ['dependency'],
    aggregator: 'first',
    async read(gauge) {
      const measure = async ([dependency, isUp]: [string, () => Promise<boolean>]) =>
        gauge.set({ dependency }, Number(await isUp()));
      await Promise.all(Object.entries(probes).map(measure));
    },
  });
  registerGauge(deps, {
    name: 'database_connections',
    help: 'Connections of the pool of Postgres by state, and requests that wait for one.',
    labelNames: ['state'],
    aggregator: 'sum',
    read(gauge) {
      if (opened.pool === null) return;
      const { totalCount, idleCount, waitingCount } = opened.pool;
      gauge.set({ state: 'busy' }, totalCount - idleCount);
      gauge.set({ state: 'idle' }, idleCount);
      gauge.set({ state: 'waiting' }, waitingCount);
    },
  });
  registerGauge(deps, {
    name: 'disk_free_bytes',
    help: 'Free bytes of each file system that the server writes to, by one of its directories.',
    labelNames: ['directory'],
    aggregator: 'first',
    async read(gauge) {
      for (const { directory, free } of await listFreeSpace(config)) gauge.set({ directory }, free);
    },
  });
  registerGauge(deps, {
    name: 'event_streams',
    help: 'Open event streams of pages, programs and tools.',
    aggregator: 'sum',
    read: (gauge) => gauge.set(projectNotifier.count),
  });
}
