import { instantOf } from '@review/contract';
import type { Deps } from '../../deps.ts';
import { registerGauge } from '../../metrics.ts';
import { countActiveWebhooks, findOldestUnsent } from './queries.ts';

/** Registers the metrics of webhooks that are on. */
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
  registerGauge(deps, {
    name: 'webhook_lag_seconds',
    help: 'Age of the oldest event that a webhook has not been sent, in seconds. Retries of refused events do not count.',
    aggregator: 'first',
    async read(gauge) {
      const oldest = await findOldestUnsent(deps.db);
      gauge.set(oldest === undefined ? 0 : Math.max(0, (Date.now() - instantOf(oldest)) / 1000));
    },
  });
}
