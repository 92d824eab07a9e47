import type { WebhookOutcome, WebhookRequest } from '@review/contract';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { problem } from '../test/fake-server.ts';
import { type DeliveryContext, deliver } from './deliver.ts';

type Exchange = Parameters<DeliveryContext['server']['exchangeDeliveries']>[0]['body'];

const requestOf = (deliveryId: string): WebhookRequest => ({ deliveryId, url: '', headers: {}, body: '' });
const outcomeOf = (deliveryId: string): WebhookOutcome => ({
  deliveryId,
  responseStatus: 200,
  responseExcerpt: '',
  error: null,
});

/** A server with these batches. Each answer is replaced by an error that `fail` returns. */
function serverWith(batches: string[][], fail: (call: number) => Error | undefined = () => undefined) {
  const calls: Exchange[] = [];
  const sent: string[] = [];
  const context: DeliveryContext = {
    log: pino({ level: 'silent' }),
    send: async ({ deliveryId }) => {
      sent.push(deliveryId);
      return outcomeOf(deliveryId);
    },
    server: {
      claimWebhooks: async () => ({ data: { webhooks: [] } }),
      async exchangeDeliveries({ body }) {
        calls.push(body);
        const error = fail(calls.length);
        if (error !== undefined) throw error;
        const requests = body.most === 0 ? [] : (batches.shift() ?? []).map(requestOf);
        return { data: { epoch: 7, requests } };
      },
    },
  };
  return { context, calls, sent };
}

const RUNNING = new AbortController().signal;

test('reports each batch with the request for the next, until none is left', async () => {
  const { context, calls, sent } = serverWith([['a', 'b'], ['c']]);
  await deliver(context, { webhookId: 'w', epoch: null }, RUNNING);
  expect(sent).toEqual(['a', 'b', 'c']);
  expect(calls).toEqual([
    { epoch: null, outcomes: [], most: 8 },
    { epoch: 7, outcomes: [outcomeOf('a'), outcomeOf('b')], most: 8 },
    { epoch: 7, outcomes: [outcomeOf('c')], most: 8 },
  ]);
});

test('a worker that stops reports what it has sent, and takes no more', async () => {
  const { context, calls } = serverWith([['a'], ['b']]);
  const stop = new AbortController();
  const { send } = context;
  context.send = (request) => {
    stop.abort();
    return send(request);
  };
  await deliver(context, { webhookId: 'w', epoch: 7 }, stop.signal);
  expect(calls).toEqual([
    { epoch: 7, outcomes: [], most: 8 },
    { epoch: 7, outcomes: [outcomeOf('a')], most: 0 },
  ]);
});

test('a report is repeated while the server is away', async () => {
  const { context, calls } = serverWith([['a']], (call) => (call === 2 ? problem(503) : undefined));
  await deliver(context, { webhookId: 'w', epoch: 7 }, RUNNING);
  expect(calls.slice(1).map(({ outcomes }) => outcomes)).toEqual([[outcomeOf('a')], [outcomeOf('a')]]);
});

test('a lost webhook ends the run', async () => {
  const { context, sent } = serverWith([['a'], ['b']], (call) => (call === 2 ? problem(404) : undefined));
  await deliver(context, { webhookId: 'w', epoch: 7 }, RUNNING);
  expect(sent).toEqual(['a']);
});
