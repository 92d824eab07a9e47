import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from './processes.ts';
import { NO_MEDIA, Service } from './service.ts';
import { type Receiver, startReceiver, subscribe } from './webhook-receiver.ts';

let [service, receiver, webhookId]: [Service?, Receiver?, string?] = [];
const started = () => {
  if (service === undefined || receiver === undefined || webhookId === undefined) throw new Error('not started yet');
  return { service, receiver, params: { id: webhookId } };
};

beforeAll(async () => {
  receiver = await startReceiver();
  service = await Service.start(NO_MEDIA);
  await service.startWorker('left', { WEBHOOK_LOOPBACK: 'on' });
  webhookId = await subscribe(service, receiver);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
});

test('a change arrives within seconds, signed', async () => {
  const { service, receiver } = started();
  const body = { content: 'Good.' };
  const { data } = await service.client.comments.create({ params: { id: service.projectId }, body });
  const received = await until('the comment arrives', () =>
    receiver.accepted.find(({ message }) => message.data.subject.id === data.id),
  );
  expect(received.message.type).toBe('comment.created');
  expect(receiver.invalid).toBe(0);
});

test('a failed attempt is repeated after five seconds under the same id, and the list shows it', async () => {
  const { service, receiver, params } = started();
  let refused = '';
  receiver.answer = ({ id, message }) => {
    if (message.type !== 'webhook.tested' || refused !== '') return 204;
    refused = id;
    return 503;
  };
  await service.client.webhooks.test({ params });
  const isRefused = ({ id }: { id: string }) => id === refused;
  await until('it is refused', () => refused !== '');
  const attempted = await until('the outcome is listed', async () => {
    const { data } = await service.client.webhooks.deliveries({ params, body: {} });
    return data.find((delivery) => isRefused(delivery) && delivery.attempts === 1);
  });
  expect(attempted).toMatchObject({ status: 'PENDING', responseStatus: 503, event: { type: 'webhook.tested' } });
  await until('it is accepted', () => receiver.accepted.some(isRefused));
  await until('it is listed as delivered', async () => {
    const { data } = await service.client.webhooks.deliveries({ params, body: { status: 'SUCCEEDED' } });
    return data.some((delivery) => isRefused(delivery) && delivery.attempts === 2);
  });
});

test('without WEBHOOK_LOOPBACK, nothing on this host is requested', async () => {
  const { service, receiver, params } = started();
  for (const worker of service.workers) await worker.end('SIGTERM');
  await service.startWorker('strict');
  const before = receiver.received.length;
  await service.client.webhooks.test({ params });
  const refused = await until('the attempt is listed', async () => {
    const { data } = await service.client.webhooks.deliveries({ params, body: { status: 'PENDING' } });
    return data.find(({ attempts }) => attempts > 0);
  });
  expect(refused).toMatchObject({ responseStatus: null, error: 'The URL is not a public https address.' });
  expect(receiver.received).toHaveLength(before);
});
