import type { Deps } from '../../deps.ts';
import { registerGauge } from '../../metrics.ts';
import { countActiveWebhooks } from './queries.ts';

/** Registers the metric of webhooks that are on. */
export function measureWebhooks(deps: Pick<Deps, 'db' | 'metrics' | 'log'>): void {
  registerGauge(deps, {
    name: 'webhooks_active',
    help: 'Webhooks that are on, by state: failing if the last attempts at its deliveries failed.',
    labelNames: ['state'],
    aggregator: 'first',
    async read(gauge) {
      const { all, failing } = await countActiveWebhooks(deps.db);
      gauge.set({ state: 'working' }, all - failing);
      gauge.set({ state: 'failing' }, failing);
    },
  });
}
