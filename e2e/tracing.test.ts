import { upload } from '@review/client';
import { expect, test } from 'vitest';
import { MINIMAX_KEY, startMinimax } from '../packages/worker/src/families/test/minimax.ts';
import { openGate } from './gate.ts';
import { type ReceivedSpan, startTraceReceiver } from './otlp-receiver.ts';
import { type Program, until } from './processes.ts';
import { NO_MEDIA, Service } from './service.ts';
import { ENGINES, TemporalServer } from './temporal-server.ts';
import { advanceRetries, startReceiver, subscribe } from './webhook-receiver.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const CALLER_SPAN_ID = 'b7ad6b7169203331';
const PROMPT = 'A lamp that nobody may read about';

/** Stops a process as an operator does, which exports its last spans. */
async function stop(program: Program | null): Promise<void> {
  expect(await program?.end('SIGTERM')).toBe(0);
}

test.each(ENGINES)('a generation under the %s engine is one trace, from the caller to the provider', async (engine) => {
  await using temporal = engine === 'temporal' ? await TemporalServer.start() : null;
  await using receiver = await startTraceReceiver();
  await using vendor = await startMinimax();
  await using service = await Service.start({
    ...NO_MEDIA,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    LOG_LEVEL: 'info',
    MINIMAX_API_KEY: MINIMAX_KEY,
    MINIMAX_BASE_URL: vendor.url,
    ...(temporal && { TEMPORAL_ADDRESS: temporal.address }),
  });
  const worker = await service.startWorker('left');
  const traceparent = `00-${TRACE_ID}-${CALLER_SPAN_ID}-01`;
  const client = service.clientAt(service.url, { headers: () => ({ traceparent }) });
  const id = await service.generate('minimax-h3', PROMPT, { configs: {} }, client);
  expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
  await service
    .clientAt(service.url, { token: 'wrong', headers: () => ({ traceparent }) })
    .ping.ping()
    .catch(() => {});
  const invalid = `00-${'0'.repeat(32)}-${CALLER_SPAN_ID}-01`;
  await service.clientAt(service.url, { headers: () => ({ traceparent: invalid }) }).models.list();
  await stop(worker);
  await stop(service.server);

  const spans = receiver.spans.filter(({ traceId }) => traceId === TRACE_ID);
  const named = (name: string): ReceivedSpan => {
    const found = spans.find((span) => span.name === name);
    if (found === undefined) throw new Error(`no span ${name}, but ${spans.map((span) => span.name)}`);
    return found;
  };
  const [generate, queued] = [named('generation.generate'), named('generation.queued')];
  expect(generate).toMatchObject({
    service: 'review-server',
    parentSpanId: CALLER_SPAN_ID,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/api/projects/:id/files/upload.generate',
      'http.response.status_code': 202,
    },
  });
  expect(queued).toMatchObject({ service: 'review-server', parentSpanId: generate.spanId });
  expect(queued.attributes).toMatchObject({ 'review.engine': engine, 'review.file_id': id });
  for (const step of ['prepare', 'submit', 'awaitJob', 'store']) {
    expect(named(`step.${step}`)).toMatchObject({ service: 'review-worker', parentSpanId: queued.spanId });
  }
  const [submit, wait] = [named('step.submit').spanId, named('step.awaitJob').spanId];
  expect(named('provider.submit')).toMatchObject({ service: 'review-worker', parentSpanId: submit });
  expect(named('provider.submit').attributes).toMatchObject({
    'review.family': 'minimax',
    'review.provider': 'live',
  });
  expect(spans.filter(({ name }) => name === 'provider.poll').some(({ parentSpanId }) => parentSpanId === wait)).toBe(
    true,
  );
  // What the worker tells the server meanwhile is part of the step.
  expect(named('worker.reserveSubmit')).toMatchObject({ service: 'review-server', parentSpanId: submit });
  expect(named('ping.ping').attributes).toMatchObject({
    'http.response.status_code': 401,
    'error.type': 'INVALID_CREDENTIAL',
  });

  const [alone] = receiver.spans.filter(({ name }) => name === 'models.list');
  expect(alone?.traceId).toMatch(/^[0-9a-f]*[1-9a-f][0-9a-f]*$/);
  expect([alone?.traceId === TRACE_ID, alone?.parentSpanId]).toEqual([false, undefined]);
  expect(service.server?.output).toContain(`"traceId":"${TRACE_ID}","operation":"generation.generate"`);

  // Workers that look for work, and probes, are no traces of their own.
  expect(receiver.spans.filter(({ name }) => ['worker.claim', 'worker.heartbeat', 'GET'].includes(name))).toEqual([]);
  const exported = JSON.stringify(receiver.spans);
  for (const secret of [PROMPT, service.key, MINIMAX_KEY, vendor.url]) expect(exported).not.toContain(secret);
  expect(vendor.requests.length).toBeGreaterThan(1);
  expect(vendor.requests.filter(({ headers }) => 'traceparent' in headers)).toEqual([]);
});

/** The codes of OTLP. */
const [UNSET, ERROR, CLIENT] = [0, 2, 3];

test.each(ENGINES)(
  'under the %s engine, reading media and every attempt at a delivery is a span, without any content',
  async (engine) => {
    await using temporal = engine === 'temporal' ? await TemporalServer.start() : null;
    await using receiver = await startTraceReceiver();
    await using hooks = await startReceiver();
    await using service = await Service.start({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      SANDBOX_MILLISECONDS: '0',
      WEBHOOK_LOOPBACK: 'on',
      ...(temporal && { TEMPORAL_ADDRESS: temporal.address }),
    });
    await using gate = await openGate(service.url);
    const worker = await service.startWorker('left', { SERVER_URL: gate.url });
    const mediaOf = (id: string) =>
      until(`the media of ${id} is read`, async () => {
        const { media } = await service.file(id);
        return media !== null && media.status !== 'PENDING' && media;
      });

    const traceparent = `00-${TRACE_ID}-${CALLER_SPAN_ID}-01`;
    const client = service.clientAt(service.url, { headers: () => ({ traceparent }) });
    const generated = await service.generate('gpt-image-2', PROMPT, {}, client);
    await service.waitForEnd(generated);
    expect(await mediaOf(generated)).toMatchObject({ status: 'READY' });
    const picture = new Uint8Array(await service.bytesOf(generated));
    const add = async (source: Uint8Array<ArrayBuffer>, name: string) =>
      (await upload(service.client, { to: { project: service.projectId }, source, name })).id;
    const damaged = await add(picture.slice(0, picture.length / 2), 'half-a-lamp.png');
    expect(await mediaOf(damaged)).toMatchObject({ status: 'FAILED', error: { code: 'UNREADABLE' } });

    const webhookId = await subscribe(service, hooks);
    const params = { id: webhookId };
    const answers = [503, 'reset', 204] as const;
    const isTest = ({ message }: { message: { type: string } }) => message.type === 'webhook.tested';
    hooks.answer = (received) => (isTest(received) ? (answers[hooks.received.filter(isTest).length - 1] ?? 204) : 204);
    await service.client.webhooks.test({ params });
    for (const attempts of [1, 2, 3]) {
      await until(`attempt ${attempts} is recorded`, async () => {
        const { data } = await service.client.webhooks.deliveries({ params, body: {} });
        return data.some((delivery) => delivery.event.type === 'webhook.tested' && delivery.attempts >= attempts);
      });
      await advanceRetries(service);
    }

    const held = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    gate.on = async ({ method, path }) => {
      if (method !== 'GET' || path.startsWith('/worker/')) return undefined;
      held.resolve();
      await stopped.promise;
      return 'cut';
    };
    const interrupted = await add(picture, 'lamp.png');
    await held.promise;
    await stop(worker);
    stopped.resolve();
    await stop(service.server);

    const { spans } = receiver;
    const readingOf = (id: string): ReceivedSpan => {
      const [found, ...others] = spans.filter(
        ({ name, attributes }) => name === 'media.read' && attributes['review.file_id'] === id,
      );
      expect(others).toEqual([]);
      if (found === undefined) throw new Error(`no span of ${id}, but ${spans.map(({ name }) => name)}`);
      return found;
    };
    const generate = spans.find(({ name }) => name === 'generation.generate');
    const reading = readingOf(generated);
    expect(reading).toMatchObject({
      service: 'review-worker',
      traceId: TRACE_ID,
      parentSpanId: generate?.spanId,
      status: { code: UNSET },
      attributes: { 'review.media_kind': 'IMAGE' },
    });
    // What the worker tells the server meanwhile is part of it.
    for (const name of ['worker.recordFacts', 'worker.completeRendition', 'worker.finishMedia']) {
      const found = spans.filter(({ parentSpanId }) => parentSpanId === reading.spanId).map((span) => span.name);
      expect(found).toContain(name);
    }
    const failed = { status: { code: ERROR }, attributes: { 'error.type': 'UNREADABLE' } };
    expect(readingOf(damaged)).toMatchObject(failed);
    // A worker that stops has not failed.
    expect(readingOf(interrupted)).toMatchObject({ status: { code: UNSET } });
    expect(readingOf(interrupted).attributes).not.toHaveProperty('error.type');
    const uploads = [readingOf(damaged), readingOf(interrupted)];
    expect(uploads.map(({ parentSpanId }) => parentSpanId)).toEqual([undefined, undefined]);
    expect(new Set([reading, ...uploads].map(({ traceId }) => traceId)).size).toBe(3);

    const [tested] = hooks.received.filter(isTest);
    const attempts = spans
      .filter(({ attributes }) => attributes['review.delivery_id'] === tested?.id)
      .toSorted((a, b) => Number(a.attributes['review.attempt']) - Number(b.attributes['review.attempt']));
    const ids = { 'review.webhook_id': webhookId, 'review.delivery_id': tested?.id };
    expect(attempts.map(({ status, attributes }) => [status.code, attributes])).toEqual([
      [ERROR, { ...ids, 'review.attempt': 1, 'http.response.status_code': 503, 'error.type': '503' }],
      [ERROR, { ...ids, 'review.attempt': 2, 'error.type': 'NO_ANSWER' }],
      [UNSET, { ...ids, 'review.attempt': 3, 'http.response.status_code': 204 }],
    ]);
    const deliveries = spans.filter(({ name }) => name === 'webhook.deliver');
    expect(deliveries).toHaveLength(hooks.received.length);
    expect(new Set(deliveries.map(({ traceId }) => traceId)).size).toBe(deliveries.length);
    for (const span of deliveries) expect(span).toMatchObject({ service: 'review-worker', kind: CLIENT });
    expect(deliveries.filter((span) => 'parentSpanId' in span)).toEqual([]);
    expect(hooks.received.filter(({ headers }) => 'traceparent' in headers || 'tracestate' in headers)).toEqual([]);

    const unasked = ['worker.claimMedia', 'worker.claimWebhooks', 'worker.exchangeDeliveries', 'worker.renewMedia'];
    expect(spans.filter(({ name }) => unasked.includes(name))).toEqual([]);
    const exported = JSON.stringify(spans);
    const secrets = [PROMPT, service.key, await hooks.secret.promise, hooks.url, new URL(hooks.url).host, 'lamp.png'];
    for (const secret of secrets) expect(exported).not.toContain(secret);
  },
);
