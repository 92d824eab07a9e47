import { expect, test } from 'vitest';
import { MINIMAX_KEY, startMinimax } from '../packages/worker/src/families/test/minimax.ts';
import { type ReceivedSpan, startTraceReceiver } from './otlp-receiver.ts';
import type { Program } from './processes.ts';
import { Service } from './service.ts';
import { bothEngines, TemporalServer } from './temporal-server.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const CALLER_SPAN_ID = 'b7ad6b7169203331';
const PROMPT = 'A lamp that nobody may read about';
/** More than the timeout of an export, and less than the default timeouts of the SDK. */
const MAX_STOP_MS = 20_000;

/** Stops a process as an operator does, which exports its last spans. Returns the milliseconds. */
async function stop(program: Program | null): Promise<number> {
  const started = performance.now();
  expect(await program?.end('SIGTERM')).toBe(0);
  return performance.now() - started;
}

test.each(bothEngines())(
  'a generation under the %s engine is one trace, from the caller to the provider',
  async (engine) => {
    await using temporal = engine === 'temporal' ? await TemporalServer.start() : null;
    await using receiver = await startTraceReceiver();
    await using vendor = await startMinimax();
    await using service = await Service.start({
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
  },
);

test('OTEL_SDK_DISABLED exports nothing', async () => {
  await using receiver = await startTraceReceiver();
  await using service = await Service.start({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_SDK_DISABLED: 'true',
  });
  const worker = await service.startWorker('left');
  const id = await service.generate('markdown');
  expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
  expect((await service.row(id)).stages).not.toContain('traceparent');
  await stop(worker);
  await stop(service.server);
  expect(receiver.requests).toBe(0);
});

test.each(['hangs', 'is away'])(
  'a receiver that %s fails no request and delays a stop by seconds only',
  async (state) => {
    const receiver = await startTraceReceiver();
    await using _receiver = receiver;
    receiver.hangs = true;
    if (state === 'is away') await receiver[Symbol.asyncDispose]();
    await using service = await Service.start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
    const worker = await service.startWorker('left');
    const id = await service.generate('markdown');
    expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
    expect(await stop(worker)).toBeLessThan(MAX_STOP_MS);
    expect(await stop(service.server)).toBeLessThan(MAX_STOP_MS);
    expect(worker.output).toContain('traces are not exported');
    expect(service.server?.output).toContain('traces are not exported');
  },
);
