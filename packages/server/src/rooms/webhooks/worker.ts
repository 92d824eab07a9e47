import type { WorkerApi } from '@review/contract';
import type { Deps } from '../../deps.ts';
import type { WorkerHandlers } from '../handler.ts';
import { waitForClaims } from '../worker-api/wait-for-claims.ts';
import { isDraining } from '../workers/queries.ts';
import { exchangeDeliveries, LEASE_SECONDS } from './exchange.ts';
import { claimDueWebhooks } from './leases.ts';

type Operations = 'claimWebhooks' | 'exchangeDeliveries';

/** The part of the worker API that delivers to webhooks. */
export const webhookWorkerHandlers = (deps: Deps): Pick<WorkerHandlers<WorkerApi>, Operations> => ({
  async claimWebhooks({ body: { worker, most: limit, wait }, disconnected }) {
    const { db, clock } = deps;
    const due = () => claimDueWebhooks(db, { now: clock(), leaseUntil: clock(LEASE_SECONDS), limit });
    const claim = async () => ((await isDraining(db, worker)) ? [] : due());
    return { data: { webhooks: await waitForClaims(deps, { wait, signal: disconnected() }, claim) } };
  },

  exchangeDeliveries: async ({ id, body }) => ({ data: await exchangeDeliveries(deps, id, body) }),
});
