import { Context } from '@temporalio/activity';
import { type DeliveryContext, deliver } from '../webhooks/deliver.ts';
import type { WebhookActivities } from '../workflows/deliver-webhook.ts';

const BEAT_MS = 4000;

/** Returns the activities of webhook workflows. */
export const webhookActivities = (context: DeliveryContext, stop: AbortSignal): WebhookActivities => ({
  async sendDeliveries(webhookId) {
    const { heartbeat } = Context.current();
    const beating = setInterval(() => heartbeat(), BEAT_MS);
    try {
      await deliver(context, { webhookId, epoch: null }, stop);
    } finally {
      clearInterval(beating);
    }
  },
});
