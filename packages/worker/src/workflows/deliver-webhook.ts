import { proxyActivities } from '@temporalio/workflow';

/** The activities of webhook workflows. */
export interface WebhookActivities {
  /** Sends the due deliveries of a webhook. Takes it over from an attempt that is presumed dead. */
  sendDeliveries(webhookId: string): Promise<void>;
}

/** Longer than a run, with the retries of its last report. */
const RUN_SECONDS = 150;
const HEARTBEAT_SECONDS = 15;

const { sendDeliveries } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: RUN_SECONDS * 1000,
  heartbeatTimeout: HEARTBEAT_SECONDS * 1000,
  retry: { initialInterval: 1000, maximumInterval: 30_000, backoffCoefficient: 2 },
});

/** Sends what is due now. The server starts another workflow when the next delivery is due: the row has the schedule. */
export const deliverWebhook = (webhookId: string): Promise<void> => sendDeliveries(webhookId);
