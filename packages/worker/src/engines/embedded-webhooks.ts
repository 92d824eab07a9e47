import type { Drain } from '../drain.ts';
import { type DeliveryContext, deliver, MAX_RUNS } from '../webhooks/deliver.ts';
import { runClaimLoop } from './claim-loop.ts';

/** Claims webhooks with due deliveries under a lease and delivers to each, until `stop` aborts. */
export const runWebhooks = (context: DeliveryContext, worker: string, stop: AbortSignal, drain: Drain): Promise<void> =>
  runClaimLoop({
    subject: 'deliveries',
    concurrency: MAX_RUNS,
    log: context.log,
    stop,
    drain,
    claim: async (body, options) =>
      (await context.server.claimWebhooks({ body: { worker, ...body } }, options)).data.webhooks,
    work: (claimed) => deliver(context, claimed, stop),
    fields: ({ webhookId }) => ({ webhook: webhookId }),
  });
