import type { WebhookOutcome } from '@review/contract';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { Drain } from '../drain.ts';
import { type DeliveryContext, MAX_RUNS } from '../webhooks/deliver.ts';
import { runWebhooks } from './embedded-webhooks.ts';

const OUTCOME: WebhookOutcome = { deliveryId: 'd', responseStatus: 200, responseExcerpt: '', error: null };

/** A server with that many webhooks, each with one request that waits until `answer` is called. */
function serverWith(webhooks: number) {
  const waiting = Array.from({ length: webhooks }, (_, index) => `webhook ${index}`);
  const [asked, running, ended] = [[] as number[], new Set<string>(), new Set<string>()];
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const context: DeliveryContext = {
    log: pino({ level: 'silent' }),
    async send() {
      await answered;
      return OUTCOME;
    },
    server: {
      async claimWebhooks({ body }, options) {
        asked.push(body.most);
        const claimed = waiting.splice(0, body.most);
        if (claimed.length === 0) {
          await new Promise((_, reject) =>
            options?.signal?.addEventListener('abort', () => reject(new Error('aborted'))),
          );
        }
        return { data: { webhooks: claimed.map((webhookId) => ({ webhookId, epoch: 1 })) } };
      },
      async exchangeDeliveries({ params: { id }, body: { outcomes } }) {
        if (outcomes.length > 0) {
          running.delete(id);
          ended.add(id);
          return { data: { epoch: 1, requests: [] } };
        }
        running.add(id);
        return { data: { epoch: 1, requests: [{ deliveryId: 'd', url: '', headers: {}, body: '' }] } };
      },
    },
  };
  return { context, asked, running, ended, answer };
}

test('delivers to a limited number of webhooks at once, and then to the others', async () => {
  const { context, asked, running, ended, answer } = serverWith(MAX_RUNS + 3);
  const stop = new AbortController();
  const done = runWebhooks(context, 'left', stop.signal, new Drain());
  await expect.poll(() => running.size).toBe(MAX_RUNS);
  expect(asked).toEqual([MAX_RUNS]);
  answer();
  await expect.poll(() => ended.size).toBe(MAX_RUNS + 3);
  stop.abort();
  await done;
});

test('a stopped worker reports the requests in flight before it ends', async () => {
  const { context, running, ended, answer } = serverWith(2);
  const stop = new AbortController();
  const done = runWebhooks(context, 'left', stop.signal, new Drain());
  await expect.poll(() => running.size).toBe(2);
  stop.abort();
  answer();
  await done;
  expect(ended.size).toBe(2);
});

test('a failed claim is repeated', async () => {
  const { context, ended, answer } = serverWith(1);
  answer();
  const { claimWebhooks } = context.server;
  const failing = vi.spyOn(context.server, 'claimWebhooks').mockRejectedValueOnce(new TypeError('fetch failed'));
  failing.mockImplementation(claimWebhooks);
  const stop = new AbortController();
  const done = runWebhooks(context, 'left', stop.signal, new Drain());
  await expect.poll(() => ended.size).toBe(1);
  stop.abort();
  await done;
});
