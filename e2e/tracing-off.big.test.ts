import { expect, test } from 'vitest';
import { startTraceReceiver } from './otlp-receiver.ts';
import type { Program } from './processes.ts';
import { NO_MEDIA, Service } from './service.ts';

/** More than the timeout of an export, and less than the default timeouts of the SDK. */
const MAX_STOP_MS = 20_000;

/** Stops a process as an operator does. Returns the milliseconds. */
async function stop(program: Program | null): Promise<number> {
  const started = performance.now();
  expect(await program?.end('SIGTERM')).toBe(0);
  return performance.now() - started;
}

test('OTEL_SDK_DISABLED exports nothing', async () => {
  await using receiver = await startTraceReceiver();
  await using service = await Service.start({
    ...NO_MEDIA,
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
    await using service = await Service.start({ ...NO_MEDIA, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
    const worker = await service.startWorker('left');
    const id = await service.generate('markdown');
    expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
    expect(await stop(worker)).toBeLessThan(MAX_STOP_MS);
    expect(await stop(service.server)).toBeLessThan(MAX_STOP_MS);
    expect(worker.output).toContain('traces are not exported');
    expect(service.server?.output).toContain('traces are not exported');
  },
);
