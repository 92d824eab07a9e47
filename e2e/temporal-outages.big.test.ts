import { workflowIdOf } from '@review/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RECONCILE_QUICKLY } from './on-temporal.ts';
import { until } from './processes.ts';
import { Service } from './service.ts';
import { lacksTemporal, TemporalServer } from './temporal-server.ts';

describe.skipIf(lacksTemporal())('generations with Temporal outages', () => {
  let temporal: TemporalServer;
  let service: Service;

  beforeAll(async () => {
    temporal = await TemporalServer.create();
    service = await Service.start({ SANDBOX_MILLISECONDS: '6000', ...RECONCILE_QUICKLY }, { temporal });
    await service.startWorker('left');
  });

  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await temporal?.[Symbol.asyncDispose]();
  });

  test('with Temporal down the API returns 202 at once, and one workflow starts when it is back', async () => {
    const times: number[] = [];
    const generate = async (model: string) => {
      const asked = performance.now();
      const id = await service.generate(model, 'Down');
      times.push(performance.now() - asked);
      return id;
    };
    const id = await generate('kling-3.0');
    const others = [await generate('markdown'), await generate('meshy-7'), await generate('gpt-image-2')];
    console.log(`202 with Temporal down after ${times.map(Math.round).join(', ')} ms`);
    // The fastest shows that no request waits for Temporal, although the machine may be busy.
    expect(Math.min(...times)).toBeLessThan(300);
    expect(Math.max(...times)).toBeLessThan(3000);
    // Long enough for the dispatcher to fail and to retry after its lease.
    await new Promise((wait) => setTimeout(wait, 5000));
    expect((await service.file(id)).generation?.status).toBe('QUEUED');
    await temporal.start();
    const back = performance.now();
    await until('the workflow exists', () => temporal.describe(workflowIdOf(id)).catch(() => null), 5000);
    expect(performance.now() - back).toBeLessThan(5000);
    console.log(`started ${Math.round(performance.now() - back)} ms after Temporal came back`);
    for (const each of [id, ...others]) {
      expect((await service.waitForEnd(each)).status).toBe('UPLOADED');
      expect((await service.row(each)).epoch).toBe(1);
      expect(await service.intents(each)).toBe(1);
      expect(await temporal.countRuns(workflowIdOf(each))).toBe(1);
    }
  });

  test('a job survives a restart of Temporal', async () => {
    const id = await service.generate('veo-3.1-generate-preview', 'Restarted');
    await service.waitForRunning(id);
    await temporal.kill();
    await temporal.start();
    expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
    expect(await service.intents(id)).toBe(1);
    expect((await service.row(id)).epoch).toBe(1);
  });

  test('a job survives the loss of all Temporal data', async () => {
    const id = await service.generate('hunyuan3d-3.1', 'Forgotten');
    await service.waitForRunning(id);
    await temporal.kill();
    await temporal.forget();
    await temporal.start();
    expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
    expect(await service.intents(id)).toBe(1);
    expect((await service.row(id)).epoch).toBe(2);
  });
});
