import type { WorkerClient } from '@review/client/worker';
import { MAX_WEBHOOK_REQUESTS, type WebhookOutcome, type WebhookRequest } from '@review/contract';
import type { Logger } from 'pino';
import { StepError } from '../step-error.ts';
import { mapServerError } from '../steps/context.ts';
import { retryWhileUnavailable } from '../steps/retry-while-unavailable.ts';
import { traceDelivery } from './trace-delivery.ts';

/** The maximum of webhooks that a worker delivers to at once, each with up to `MAX_WEBHOOK_REQUESTS`. */
export const MAX_RUNS = 10;
/** A run ends after this time, so that other webhooks get their turn. */
const RUN_MS = 60_000;
/** Within the lease of 30 seconds, a report is retried while the server is unavailable. */
const REPORT_MS = 20_000;

export interface DeliveryContext {
  server: Pick<WorkerClient, 'claimWebhooks' | 'exchangeDeliveries'>;
  send(request: WebhookRequest): Promise<WebhookOutcome>;
  log: Logger;
}

/**
 * Sends the deliveries of a webhook that are due, and reports each outcome with the request for the next ones. Ends when
 * none is due or the signal aborts; unreported outcomes are sent again after the lease. Without an epoch, takes the webhook
 * over.
 */
export async function deliver(
  { server, send }: DeliveryContext,
  { webhookId, epoch }: { webhookId: string; epoch: number | null },
  stop: AbortSignal,
): Promise<void> {
  const until = performance.now() + RUN_MS;
  let held = epoch;
  const exchange = async (outcomes: WebhookOutcome[]) => {
    const most = stop.aborted || performance.now() > until ? 0 : MAX_WEBHOOK_REQUESTS;
    const call = { params: { id: webhookId }, body: { epoch: held, outcomes, most } };
    const { data } = await retryWhileUnavailable(AbortSignal.timeout(REPORT_MS), () =>
      mapServerError(server.exchangeDeliveries(call)),
    );
    held = data.epoch;
    return data.requests;
  };
  try {
    let requests = await exchange([]);
    while (requests.length > 0) {
      const outcomes = requests.map((request) => traceDelivery(webhookId, request, () => send(request)));
      requests = await exchange(await Promise.all(outcomes));
    }
  } catch (error) {
    // It was deleted or switched off, or another worker has taken it over.
    if (!(error instanceof StepError && error.type === 'LOST')) throw error;
  }
}
