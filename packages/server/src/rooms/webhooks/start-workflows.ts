import type { Deps } from '../../deps.ts';
import { keepStartingWorkflows } from '../workers/start-workflows.ts';
import { claimDueWebhooks, dropLease } from './leases.ts';

/** Starts a workflow for each webhook with due deliveries, until the signal aborts. */
export const keepStartingWebhooks = (
  deps: Pick<Deps, 'db' | 'clock' | 'log'>,
  { startWebhook }: { startWebhook(webhookId: string): Promise<void> },
  stop: AbortSignal,
): Promise<void> =>
  keepStartingWorkflows(
    deps,
    {
      subject: 'webhook',
      // Short, because a workflow that is about to end does not deliver any more.
      leaseSeconds: 5,
      claim: (asked) => claimDueWebhooks(deps.db, asked),
      start: ({ webhookId }) => startWebhook(webhookId),
      release: (claimed) => dropLease(deps.db, claimed),
    },
    stop,
  );
