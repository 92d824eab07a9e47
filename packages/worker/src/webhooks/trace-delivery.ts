import type { WebhookOutcome, WebhookRequest } from '@review/contract';
import { inSpan, isTracing, markFailed, SpanKind } from '@review/tracing';

/**
 * Runs an attempt at a delivery in a span of its own trace. The span has neither the URL, which may contain a secret, nor the body.
 * The trace is not passed on: its ids would tell the receiver which of our requests belong together.
 */
export function traceDelivery(
  webhookId: string,
  { deliveryId, attempt }: WebhookRequest,
  send: () => Promise<WebhookOutcome>,
): Promise<WebhookOutcome> {
  if (!isTracing()) return send();
  const ids = { 'review.webhook_id': webhookId, 'review.delivery_id': deliveryId };
  const attributes = { ...ids, ...(attempt !== undefined && { 'review.attempt': attempt }) };
  const options = { kind: SpanKind.CLIENT, attributes, errorType: () => 'INTERNAL' };
  return inSpan('webhook.deliver', options, async (span) => {
    const outcome = await send();
    const { responseStatus, error } = outcome;
    if (responseStatus !== null) span.setAttribute('http.response.status_code', responseStatus);
    if (error !== null) markFailed(span, responseStatus === null ? 'NO_ANSWER' : String(responseStatus));
    return outcome;
  });
}
