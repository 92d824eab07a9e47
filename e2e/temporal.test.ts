import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { FAMILIES, MODELS, webhookWorkflowIdOf, workflowIdOf, workflowTypeOf } from '@review/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../scripts/free-port.ts';
import { until } from './processes.ts';
import { NO_MEDIA, Service } from './service.ts';
import { smallestVideo } from './smallest-video.ts';
import { lacksTemporal, TemporalServer } from './temporal-server.ts';

const isLacking = lacksTemporal();

const HISTORIES = resolve(import.meta.dirname, '../packages/worker/src/workflows/histories');

describe.skipIf(isLacking)('generations under Temporal', () => {
  let temporal: TemporalServer;
  let service: Service;
  let slow: string;

  beforeAll(async () => {
    temporal = await TemporalServer.start();
    service = await Service.start(NO_MEDIA, { temporal });
    const worker = await service.startWorker('left');
    await worker.waitForOutput('serving the queues');
    // Runs beside the other tests, because it takes half a minute.
    slow = await service.generate('seedance-2.0', '[slow] and steady');
  });

  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await temporal?.[Symbol.asyncDispose]();
  });

  /** RECORD_HISTORIES=1 records new histories for the replay test of the worker. */
  const record = async (name: string, id: string, workflowId = workflowIdOf(id)) => {
    if (process.env['RECORD_HISTORIES'] !== '1') return;
    await mkdir(HISTORIES, { recursive: true });
    await writeFile(join(HISTORIES, `${name}.json`), await temporal.history(workflowId));
  };

  const closed = (id: string) =>
    until(`the workflow of ${id} is closed`, async () => {
      const workflow = await temporal.describe(workflowIdOf(id));
      return workflow.status !== 'RUNNING' && workflow;
    });

  test('a model of every family reaches UPLOADED through its own workflow', async () => {
    const jobs = await Promise.all(
      FAMILIES.map(async (family) => {
        const model = MODELS.find((entry) => entry.family === family);
        if (model === undefined) throw new Error(`${family} has no model`);
        const configs = smallestVideo(model);
        return { family, id: await service.generate(model.id, `A file by ${family}`, configs && { configs }) };
      }),
    );
    for (const { family, id } of jobs) {
      const file = await service.waitForEnd(id);
      expect(file, family).toMatchObject({ status: 'UPLOADED', generation: { progress: 1, error: null } });
      expect(await service.row(id), family).toMatchObject({ engine: 'temporal', epoch: 1 });
      expect(await service.intents(id), family).toBe(1);
      const workflow = await closed(id);
      expect(workflow).toMatchObject({ type: workflowTypeOf(family), status: 'COMPLETED' });
      expect(workflow.historyLength).toBeLessThanOrEqual(45);
      if (family === 'veo') await record('success', id);
    }
  });

  test('a webhook gets its events through a workflow', async () => {
    const { webhooks } = service.client;
    // The worker refuses the address, which is an attempt like any other.
    const body = { url: 'https://localhost/', types: ['webhook.created' as const] };
    const { data: webhook } = await webhooks.create({ params: { id: service.projectId }, body });
    const attempted = await until('an attempt is recorded', async () => {
      const { data } = await webhooks.deliveries({ params: webhook, body: {} });
      return data.find(({ event, attempts }) => event.type === 'webhook.created' && attempts > 0);
    });
    expect(attempted).toMatchObject({ status: 'PENDING', responseStatus: null });
    const workflowId = webhookWorkflowIdOf(webhook.id);
    await until('the workflow is closed', async () => (await temporal.describe(workflowId)).status === 'COMPLETED');
    await record('webhook', webhook.id, workflowId);
    await webhooks.delete({ params: webhook });
  });

  test('/readyz reports that Temporal responds', async () => {
    const ready = await fetch(`${service.url}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([200, { engine: 'temporal', degraded: [] }]);
  });

  test('the timeline lists the steps and their outcomes', async () => {
    const id = await service.generate('markdown', 'A timeline');
    await service.waitForEnd(id);
    const { data } = await service.client.files.getGeneration({ params: { id } });
    expect(data.engine).toBe('temporal');
    expect(data.steps.map(({ name, outcome }) => [name, outcome])).toEqual([
      ['prepare', 'SUCCEEDED'],
      ['submit', 'SUCCEEDED'],
      ['awaitJob', 'SUCCEEDED'],
      ['store', 'SUCCEEDED'],
      ['finish', 'SUCCEEDED'],
    ]);
  });

  test('the worker exports step metrics', async () => {
    const port = await freePort();
    await service.startWorker('counted', { WORKER_PORT: port });
    const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const counted = /^generation_steps_total\{family="document",step="\w+",outcome="SUCCEEDED"\} \d+$/m;
    await until('the metrics contain a step', async () => {
      await service.waitForEnd(await service.generate('markdown', 'Counted'));
      return counted.test(await metrics());
    });
    expect(await metrics()).toMatch(counted);
  });

  test.each([
    ['[fail]', 'PROVIDER_REJECTED'],
    ['[moderated]', 'MODERATED'],
    ['[garbage]', 'PROVIDER_REJECTED'],
  ])('%s ends with %s', async (prompt, code) => {
    const id = await service.generate('kling-3.0', prompt);
    expect(await service.waitForEnd(id)).toMatchObject({ status: 'FAILED', generation: { error: { code } } });
    expect(await closed(id)).toMatchObject({ status: 'COMPLETED' });
    if (prompt === '[fail]') await record('failure', id);
  });

  test('cancel during polling ends the workflow at once', async () => {
    const id = await service.generate('meshy-7', '[stall]');
    await service.waitForRunning(id);
    await service.waitForOrder(id);
    await service.client.files.cancel({ params: { id } });
    expect((await service.file(id)).status).toBe('CANCELED');
    expect(await closed(id)).toMatchObject({ status: 'CANCELLED' });
    expect((await service.file(id)).status).toBe('CANCELED');
    await record('cancel', id);
  });

  test('a second dispatcher over the same rows starts no second workflow', async () => {
    const port = await freePort();
    await using second = await service.startServer({ PORT: port });
    const clients = [service.client, service.clientAt(`http://127.0.0.1:${port}`)];
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, index) => service.generate('markdown', `Page ${index}`, {}, clients[index % 2])),
    );
    for (const id of ids) {
      expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
      expect(await service.row(id)).toMatchObject({ epoch: 1 });
      expect(await service.intents(id)).toBe(1);
    }
    await Promise.all(ids.map(closed));
    for (const id of ids) expect(await temporal.countRuns(workflowIdOf(id))).toBe(1);
    expect(await second.end('SIGTERM')).toBe(0);
  });

  test('long polling of a job does not grow the workflow history', async () => {
    expect((await service.waitForEnd(slow, 90)).status).toBe('UPLOADED');
    // If each poll were a step of the workflow, it would add six events.
    expect((await service.steps(slow)).find(({ name }) => name === 'awaitJob')?.attempt).toBeGreaterThanOrEqual(10);
    const { historyLength } = await closed(slow);
    expect(historyLength).toBeLessThanOrEqual(45);
    await record('long-wait', slow);
  }, 120_000);
});
