import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { FAMILIES, MODELS, workflowIdOf, workflowTypeOf } from '@review/contract';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startVendor } from '../packages/worker/src/test/vendor.ts';
import { freePort } from './dev-process.ts';
import { openGate } from './gate.ts';
import { startObjectStore } from './object-store.ts';
import { until } from './processes.ts';
import { Service, sha256 } from './service.ts';
import { lacksTemporal, TemporalServer } from './temporal-server.ts';

const isLacking = lacksTemporal();

const HISTORIES = resolve(import.meta.dirname, '../packages/worker/src/workflows/histories');
const QUICKLY = { RECONCILE_SECONDS: '1' };

describe.skipIf(isLacking)('generations under Temporal', () => {
  let temporal: TemporalServer;
  let service: Service;

  beforeAll(async () => {
    temporal = await TemporalServer.started();
    service = await Service.start({}, { temporal });
    const worker = await service.startWorker('left');
    await worker.said('serving the queues');
  });

  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await temporal?.[Symbol.asyncDispose]();
  });

  /** RECORD_HISTORIES=1 renews what the replay test of the worker replays. */
  const record = async (name: string, id: string) => {
    if (process.env['RECORD_HISTORIES'] !== '1') return;
    await mkdir(HISTORIES, { recursive: true });
    await writeFile(join(HISTORIES, `${name}.json`), await temporal.history(workflowIdOf(id)));
  };

  const closed = (id: string) =>
    until(`the workflow of ${id} is closed`, async () => {
      const workflow = await temporal.describe(workflowIdOf(id));
      return workflow.status !== 'RUNNING' && workflow;
    });

  test('a model of every family goes from 202 to UPLOADED, each by its own workflow', async () => {
    const jobs = await Promise.all(
      FAMILIES.map(async (family) => {
        const model = MODELS.find((entry) => entry.family === family);
        return { family, id: await service.generate(model?.id ?? '', `A file by ${family}`) };
      }),
    );
    for (const { family, id } of jobs) {
      const file = await service.ended(id);
      expect(file, family).toMatchObject({ status: 'UPLOADED', generation: { progress: 1, error: null } });
      expect(await service.row(id), family).toMatchObject({ engine: 'temporal', epoch: 1 });
      expect(await service.intents(id), family).toBe(1);
      const workflow = await closed(id);
      expect(workflow).toMatchObject({ type: workflowTypeOf(family), status: 'COMPLETED' });
      expect(workflow.historyLength).toBeLessThanOrEqual(45);
      if (family === 'veo') await record('success', id);
    }
  });

  test('the timeline names the steps and their outcome', async () => {
    const id = await service.generate('markdown', 'A timeline');
    await service.ended(id);
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

  test('the worker counts its steps', async () => {
    const port = await freePort();
    await service.startWorker('counted', { WORKER_PORT: port });
    await until('a step of the counted worker is counted', async () => {
      await service.ended(await service.generate('markdown', 'Counted'));
      const shown = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return /^generation_steps_total\{family="document",step="\w+",outcome="SUCCEEDED"\} \d+$/m.test(shown);
    });
  });

  test.each([
    ['[fail]', 'PROVIDER_REJECTED'],
    ['[moderated]', 'MODERATED'],
    ['[garbage]', 'PROVIDER_REJECTED'],
  ])('%s ends with %s', async (prompt, code) => {
    const id = await service.generate('kling-3.0', prompt);
    expect(await service.ended(id)).toMatchObject({ status: 'FAILED', generation: { error: { code } } });
    expect(await closed(id)).toMatchObject({ status: 'COMPLETED' });
    if (prompt === '[fail]') await record('failure', id);
  });

  test('a job that is polled for long leaves no longer history', async () => {
    const id = await service.generate('seedance-2.0', '[slow] and steady');
    expect((await service.ended(id, 90)).status).toBe('UPLOADED');
    expect((await service.steps(id)).find(({ name }) => name === 'awaitJob')?.attempt).toBeGreaterThanOrEqual(20);
    const { historyLength } = await closed(id);
    expect(historyLength).toBeLessThanOrEqual(45);
    await record('long-wait', id);
  }, 120_000);

  test('cancel while it is polled ends the workflow at once', async () => {
    const id = await service.generate('meshy-7', '[stall]');
    await service.running(id);
    await service.ordered(id);
    await service.client.files.cancel({ params: { id } });
    expect((await service.file(id)).status).toBe('CANCELED');
    expect(await closed(id)).toMatchObject({ status: 'CANCELED' });
    expect((await service.file(id)).status).toBe('CANCELED');
    await record('cancel', id);
  });

  test('a second dispatcher over the same rows starts nothing twice', async () => {
    const port = await freePort();
    await using second = await service.startServer({ PORT: port });
    const clients = [service.client, service.clientAt(`http://127.0.0.1:${port}`)];
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, index) => service.generate('markdown', `Page ${index}`, {}, clients[index % 2])),
    );
    for (const id of ids) {
      expect((await service.ended(id)).status).toBe('UPLOADED');
      expect(await service.row(id)).toMatchObject({ epoch: 1 });
      expect(await service.intents(id)).toBe(1);
    }
    await Promise.all(ids.map(closed));
    for (const id of ids) expect(await temporal.countRuns(workflowIdOf(id))).toBe(1);
    expect(await second.end('SIGTERM')).toBe(0);
  });
});

describe.skipIf(isLacking)('generations under a Temporal that comes and goes', () => {
  let temporal: TemporalServer;
  let service: Service;

  beforeAll(async () => {
    temporal = await TemporalServer.make();
    service = await Service.start({ SANDBOX_MILLISECONDS: '6000', ...QUICKLY }, { temporal });
    await service.startWorker('left');
  });

  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await temporal?.[Symbol.asyncDispose]();
  });

  test('with Temporal down the answer is 202 at once, and the work starts once when it is back', async () => {
    const asked = performance.now();
    const id = await service.generate('kling-3.0', 'Down');
    console.log(`202 with Temporal down after ${Math.round(performance.now() - asked)} ms`);
    expect(performance.now() - asked).toBeLessThan(300);
    const others = await Promise.all([
      service.generate('markdown', 'Down too'),
      service.generate('meshy-7', 'And down'),
    ]);
    // Long enough for the dispatcher to have failed and for its lease to have been tried again.
    await new Promise((wait) => setTimeout(wait, 5000));
    expect((await service.file(id)).generation?.status).toBe('QUEUED');
    await temporal.start();
    const back = performance.now();
    await until('its workflow is there', () => temporal.describe(workflowIdOf(id)).catch(() => null), 5000);
    expect(performance.now() - back).toBeLessThan(5000);
    console.log(`started ${Math.round(performance.now() - back)} ms after Temporal came back`);
    for (const each of [id, ...others]) {
      expect((await service.ended(each)).status).toBe('UPLOADED');
      expect((await service.row(each)).epoch).toBe(1);
      expect(await service.intents(each)).toBe(1);
      expect(await temporal.countRuns(workflowIdOf(each))).toBe(1);
    }
  });

  test('Temporal killed and started again in the middle of a job', async () => {
    const id = await service.generate('veo-3.1-generate-preview', 'Restarted');
    await service.running(id);
    await temporal.kill();
    await temporal.start();
    expect((await service.ended(id)).status).toBe('UPLOADED');
    expect(await service.intents(id)).toBe(1);
    expect((await service.row(id)).epoch).toBe(1);
  });

  test('Temporal that has forgotten everything in the middle of a job', async () => {
    const id = await service.generate('hunyuan3d-3.1', 'Forgotten');
    await service.running(id);
    await temporal.kill();
    await temporal.forget();
    await temporal.start();
    expect((await service.ended(id)).status).toBe('UPLOADED');
    expect(await service.intents(id)).toBe(1);
    expect((await service.row(id)).epoch).toBe(2);
  });
});

describe.skipIf(isLacking)('workers that die under Temporal', () => {
  let temporal: TemporalServer;

  beforeAll(async () => {
    temporal = await TemporalServer.started();
  });

  afterAll(async () => {
    await temporal?.[Symbol.asyncDispose]();
  });

  const start = (settings: Record<string, string> = {}) => Service.start({ ...QUICKLY, ...settings }, { temporal });

  test('killed while it waits for a job, another one goes on and orders nothing', async () => {
    await using service = await start({ SANDBOX_MILLISECONDS: '4000' });
    const first = await service.startWorker('first');
    const ids = await Promise.all([service.generate('kling-3.0', 'One'), service.generate('gpt-image-2', 'Two')]);
    for (const id of ids) await service.ordered(id);
    await first.end('SIGKILL');
    await service.startWorker('second');
    for (const id of ids) {
      expect((await service.ended(id)).status).toBe('UPLOADED');
      expect(await service.intents(id)).toBe(1);
    }
  });

  test('killed while it orders, a video is not ordered again and a document once more', async () => {
    await using service = await start();
    const both = Promise.withResolvers<void>();
    await using gate = await openGate(service.url);
    let held = 0;
    gate.on = ({ path, moment }) => {
      if (moment !== 'after' || !path.endsWith('/intend')) return undefined;
      held += 1;
      if (held === 2) both.resolve();
      return new Promise(() => {});
    };
    const first = await service.startWorker('first', { SERVER_URL: gate.url });
    const video = await service.generate('kling-3.0', 'Paid');
    const page = await service.generate('markdown', 'Cheap');
    await both.promise;
    await first.end('SIGKILL');
    await service.startWorker('second');
    expect(await service.ended(video)).toMatchObject({
      status: 'FAILED',
      generation: { error: { code: 'SUBMIT_OUTCOME_UNKNOWN' } },
    });
    expect(await service.intents(video)).toBe(1);
    expect((await service.ended(page)).status).toBe('UPLOADED');
    expect(await service.intents(page)).toBe(2);
  });

  test('a step that fails each time has as many tries as its policy says, and waiting costs none', async () => {
    await using vendor = await startVendor();
    vendor.on = ({ kind, count }) => {
      if (kind === 'content') return 'half';
      return kind === 'submit' && count <= 5 ? 'rate-limited' : undefined;
    };
    await using service = await start({ TEST_PROVIDER_URL: vendor.url });
    await service.startWorker('only');
    const id = await service.generate('minimax-h3');
    expect((await service.ended(id)).generation?.error?.code).toBe('PROVIDER_UNAVAILABLE');
    expect(vendor.calls.filter(({ kind }) => kind === 'content')).toHaveLength(5);
    expect(vendor.paidFor(id)).toBe(1);
  });

  test('told to stop in the middle of work, it ends with 0 and another one goes on', async () => {
    await using service = await start({ SANDBOX_MILLISECONDS: '3000' });
    const first = await service.startWorker('first');
    const id = await service.generate('kling-3.0', 'Handed on');
    await service.running(id);
    expect(await first.end('SIGTERM')).toBe(0);
    await service.startWorker('second');
    expect((await service.ended(id)).status).toBe('UPLOADED');
    expect(await service.intents(id)).toBe(1);
  });

  test('a row whose settings break the limits fails before anything is ordered', async () => {
    await using service = await start();
    const id = await service.generate('seedance-2.5', 'Too long');
    // As somebody would who writes into the database past the service.
    const configs = { generateAudio: true, resolution: '720p', durationSeconds: 99, aspectRatio: '16:9' };
    await service.database.db
      .updateTable('generations')
      .set({ configs: JSON.stringify(configs) })
      .where('file_id', '=', id)
      .execute();
    await service.startWorker('only');
    expect(await service.ended(id)).toMatchObject({
      status: 'FAILED',
      generation: { error: { code: 'CONFIG_INVALID', retryable: false } },
    });
    expect(await service.intents(id)).toBe(0);
  });

  test('another engine takes over what is open, there and back', async () => {
    await using service = await start({ SANDBOX_MILLISECONDS: '12000' });
    await service.server?.end('SIGTERM');
    const settings = { GENERATION_ENGINE: 'embedded' };
    const programs = [await service.startServer(settings), await service.startWorker('first')];
    const id = await service.generate('kling-3.0', 'Switched');
    await service.ordered(id);
    const stop = async () => {
      for (const program of programs.splice(0).toReversed()) expect(await program.end('SIGTERM')).toBe(0);
    };
    await stop();
    programs.push(await service.startServer(), await service.startWorker('second'));
    await until('its workflow is there', () => temporal.describe(workflowIdOf(id)).catch(() => null), 5000);
    expect(await service.row(id)).toMatchObject({ engine: 'temporal', epoch: 2 });
    await stop();
    programs.push(await service.startServer(settings), await service.startWorker('third'));
    expect((await service.ended(id)).status).toBe('UPLOADED');
    expect(await service.row(id)).toMatchObject({ engine: 'embedded', epoch: 4 });
    expect(await service.intents(id)).toBe(1);
    await stop();
  });

  test('without Temporal a worker says so once, and stops when it is told', async () => {
    await using service = await Service.start({}, { temporal: { address: `127.0.0.1:${await freePort()}` } });
    const worker = await service.startWorker('alone');
    await worker.said('Temporal does not answer');
    await new Promise((wait) => setTimeout(wait, 3000));
    expect(worker.output.match(/Temporal does not answer/g)).toHaveLength(1);
    expect(await worker.end('SIGTERM')).toBe(0);
  });

  test('a Temporal that takes connections and says nothing holds up neither', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    await using service = await Service.start({}, { temporal: { address: `127.0.0.1:${portOf(silent)}` } });
    const worker = await service.startWorker('patient');
    const asked = performance.now();
    await service.generate('markdown', 'Unheard');
    expect(performance.now() - asked).toBeLessThan(300);
    for (const program of [worker, service.server]) {
      const told = performance.now();
      expect(await program?.end('SIGTERM')).toBe(0);
      expect(performance.now() - told).toBeLessThan(5000);
    }
    silent.close();
  });
});

describe.skipIf(isLacking)('Temporal, Postgres and S3 together', () => {
  test('models of several families are generated, and a worker that is killed costs nothing', async () => {
    await using temporal = await TemporalServer.started();
    await using objectStore = await startObjectStore();
    const ground = { postgres: inject('postgresUrl'), temporal, objectStore };
    await using service = await Service.start({ SANDBOX_MILLISECONDS: '3000', ...QUICKLY }, ground);
    const first = await service.startWorker('first');
    const small = { resolution: '480p', durationSeconds: 4, aspectRatio: '16:9' };
    const ids = await Promise.all([
      ...['markdown', 'gemini-3-pro-image', 'meshy-7', 'hunyuan3d-3.1'].map((model) => service.generate(model)),
      service.generate('seedance-2.5', 'A lamp', { configs: small }),
    ]);
    for (const id of ids) await service.ordered(id);
    await first.end('SIGKILL');
    await service.startWorker('second');
    for (const id of ids) {
      const file = await service.ended(id);
      expect(file).toMatchObject({ status: 'UPLOADED', generation: { error: null } });
      expect(sha256(await service.bytesOf(id))).toBe(file.sha256);
      expect(await service.row(id)).toMatchObject({ engine: 'temporal', epoch: 1 });
      expect(await service.intents(id)).toBe(1);
    }
    const keys = await objectStore.keys();
    for (const id of ids) expect(keys.filter((key) => key.includes(id))).toHaveLength(1);
  }, 120_000);
});

const portOf = (server: Server): number => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
};
