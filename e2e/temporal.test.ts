import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { FAMILIES, MODELS, workflowIdOf, workflowTypeOf } from '@review/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findTemporal } from '../scripts/temporal.ts';
import { lacking } from '../scripts/testing.ts';
import { freePort } from './dev-process.ts';
import { holdAnswers } from './held-requests.ts';
import { House } from './house.ts';
import { until } from './processes.ts';
import { TemporalServer } from './temporal-server.ts';

const found = findTemporal();
// One that runs already cannot be killed, and its store is somebody's.
const binary = found !== undefined && 'binary' in found ? found.binary : undefined;
const isLacking =
  binary === undefined &&
  lacking('a Temporal server of its own', 'npm run temporal -- --install, without TEMPORAL_ADDRESS');

const HISTORIES = resolve(import.meta.dirname, '../packages/worker/src/workflows/histories');
const QUICKLY = { RECONCILE_SECONDS: '1' };

describe.skipIf(isLacking)('generations under Temporal', () => {
  let folder = '';
  let temporal: TemporalServer;
  let house: House;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'review-temporal-'));
    temporal = await TemporalServer.at(binary ?? '', join(folder, 'temporal.db'));
    house = await House.build({ TEMPORAL_ADDRESS: temporal.address });
    await temporal.start();
    await house.startServer();
    const worker = await house.startWorker('left');
    await worker.said('serving the queues');
  });

  afterAll(async () => {
    await house?.[Symbol.asyncDispose]();
    await temporal?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
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
        return { family, id: await house.generate(model?.id ?? '', `A file by ${family}`) };
      }),
    );
    for (const { family, id } of jobs) {
      const file = await house.ended(id);
      expect(file, family).toMatchObject({ status: 'UPLOADED', generation: { progress: 1, error: null } });
      expect(house.row(id), family).toMatchObject({ engine: 'temporal', epoch: 1 });
      expect(house.intents(id), family).toBe(1);
      const workflow = await closed(id);
      expect(workflow).toMatchObject({ type: workflowTypeOf(family), status: 'COMPLETED' });
      expect(workflow.historyLength).toBeLessThanOrEqual(45);
      if (family === 'veo') await record('success', id);
    }
  });

  test('the timeline names the steps and their outcome', async () => {
    const id = await house.generate('markdown', 'A timeline');
    await house.ended(id);
    const { data } = await house.client.files.getGeneration({ params: { id } });
    expect(data.engine).toBe('temporal');
    expect(data.steps.map(({ name, outcome }) => [name, outcome])).toEqual([
      ['prepare', 'SUCCEEDED'],
      ['submit', 'SUCCEEDED'],
      ['awaitJob', 'SUCCEEDED'],
      ['store', 'SUCCEEDED'],
    ]);
  });

  test.each([
    ['[fail]', 'PROVIDER_REJECTED'],
    ['[moderated]', 'MODERATED'],
    ['[garbage]', 'PROVIDER_REJECTED'],
  ])('%s ends with %s', async (prompt, code) => {
    const id = await house.generate('kling-3.0', prompt);
    expect(await house.ended(id)).toMatchObject({ status: 'FAILED', generation: { error: { code } } });
    expect(await closed(id)).toMatchObject({ status: 'COMPLETED' });
    if (prompt === '[fail]') await record('failure', id);
  });

  test('a job that is polled for long leaves no longer history', async () => {
    const id = await house.generate('seedance-2.0', '[slow] and steady');
    expect((await house.ended(id, 90_000)).status).toBe('UPLOADED');
    const { data } = await house.client.files.getGeneration({ params: { id } });
    expect(data.steps.find(({ name }) => name === 'awaitJob')?.attempt).toBeGreaterThanOrEqual(20);
    const { historyLength } = await closed(id);
    expect(historyLength).toBeLessThanOrEqual(45);
    await record('long-wait', id);
  }, 120_000);

  test('cancel while it is polled ends the workflow at once', async () => {
    const id = await house.generate('meshy-7', '[stall]');
    await house.running(id);
    await until('it is waited for', async () => (await house.row(id)).stages['submit']?.job);
    await house.client.files.cancel({ params: { id } });
    expect((await house.file(id)).status).toBe('CANCELED');
    expect(await closed(id)).toMatchObject({ status: 'CANCELED' });
    expect((await house.file(id)).status).toBe('CANCELED');
    await record('cancel', id);
  });

  test('a second dispatcher over the same rows starts nothing twice', async () => {
    const port = await freePort();
    await using second = await house.startServer({ PORT: port });
    const clients = [house.client, house.clientAt(`http://127.0.0.1:${port}`)];
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, index) => house.generate('markdown', `Page ${index}`, clients[index % 2])),
    );
    for (const id of ids) {
      expect((await house.ended(id)).status).toBe('UPLOADED');
      expect(house.row(id)).toMatchObject({ epoch: 1 });
      expect(house.intents(id)).toBe(1);
    }
    await Promise.all(ids.map(closed));
    for (const id of ids) expect(await temporal.countRuns(workflowIdOf(id))).toBe(1);
    expect(await second.end('SIGTERM')).toBe(0);
  });
});

describe.skipIf(isLacking)('generations under a Temporal that comes and goes', () => {
  let folder = '';
  let temporal: TemporalServer;
  let house: House;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'review-temporal-'));
    temporal = await TemporalServer.at(binary ?? '', join(folder, 'temporal.db'));
    house = await House.build({ TEMPORAL_ADDRESS: temporal.address, SANDBOX_MILLISECONDS: '6000', ...QUICKLY });
    await house.startServer();
    await house.startWorker('left');
  });

  afterAll(async () => {
    await house?.[Symbol.asyncDispose]();
    await temporal?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test('with Temporal down the answer is 202 at once, and the work starts once when it is back', async () => {
    const asked = performance.now();
    const id = await house.generate('kling-3.0', 'Down');
    console.log(`202 with Temporal down after ${Math.round(performance.now() - asked)} ms`);
    expect(performance.now() - asked).toBeLessThan(300);
    const others = await Promise.all([house.generate('markdown', 'Down too'), house.generate('meshy-7', 'And down')]);
    // Long enough for the dispatcher to have failed and for its lease to have been tried again.
    await new Promise((wait) => setTimeout(wait, 5000));
    expect((await house.file(id)).generation?.status).toBe('QUEUED');
    await temporal.start();
    const back = performance.now();
    await until('its workflow is there', () => temporal.describe(workflowIdOf(id)).catch(() => null), 5000);
    expect(performance.now() - back).toBeLessThan(5000);
    console.log(`started ${Math.round(performance.now() - back)} ms after Temporal came back`);
    for (const each of [id, ...others]) {
      expect((await house.ended(each)).status).toBe('UPLOADED');
      expect(house.row(each).epoch).toBe(1);
      expect(house.intents(each)).toBe(1);
      expect(await temporal.countRuns(workflowIdOf(each))).toBe(1);
    }
  });

  test('Temporal killed and started again in the middle of a job', async () => {
    const id = await house.generate('veo-3.1-generate-preview', 'Restarted');
    await house.running(id);
    await temporal.kill();
    await temporal.start();
    expect((await house.ended(id)).status).toBe('UPLOADED');
    expect(house.intents(id)).toBe(1);
    expect(house.row(id).epoch).toBe(1);
  });

  test('Temporal that has forgotten everything in the middle of a job', async () => {
    const id = await house.generate('hunyuan3d-3.1', 'Forgotten');
    await house.running(id);
    await temporal.kill();
    await temporal.forget();
    await temporal.start();
    expect((await house.ended(id)).status).toBe('UPLOADED');
    expect(house.intents(id)).toBe(1);
    expect(house.row(id).epoch).toBe(2);
  });
});

describe.skipIf(isLacking)('workers that die under Temporal', () => {
  let folder = '';
  let temporal: TemporalServer;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'review-temporal-'));
    temporal = await TemporalServer.at(binary ?? '', join(folder, 'temporal.db'));
    await temporal.start();
  });

  afterAll(async () => {
    await temporal?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const build = (settings: Record<string, string> = {}) =>
    House.build({ TEMPORAL_ADDRESS: temporal.address, ...QUICKLY, ...settings });

  test('killed while it waits for a job, another one goes on and orders nothing', async () => {
    await using house = await build({ SANDBOX_MILLISECONDS: '4000' });
    await house.startServer();
    const first = await house.startWorker('first');
    const ids = await Promise.all([house.generate('kling-3.0', 'One'), house.generate('gpt-image-2', 'Two')]);
    for (const id of ids) await until('it is ordered', () => house.row(id).stages['submit']?.job);
    await first.end('SIGKILL');
    await house.startWorker('second');
    for (const id of ids) {
      expect((await house.ended(id)).status).toBe('UPLOADED');
      expect(house.intents(id)).toBe(1);
    }
  });

  test('killed while it orders, a video is not ordered again and a document once more', async () => {
    await using house = await build();
    await house.startServer();
    const both = Promise.withResolvers<void>();
    await using held = await holdAnswers(house.url, /\/intend$/, (count) => count === 2 && both.resolve());
    const first = await house.startWorker('first', { SERVER_URL: held.url });
    const video = await house.generate('kling-3.0', 'Paid');
    const page = await house.generate('markdown', 'Cheap');
    await both.promise;
    await first.end('SIGKILL');
    await house.startWorker('second');
    expect(await house.ended(video)).toMatchObject({
      status: 'FAILED',
      generation: { error: { code: 'SUBMIT_OUTCOME_UNKNOWN' } },
    });
    expect(house.intents(video)).toBe(1);
    expect((await house.ended(page)).status).toBe('UPLOADED');
    expect(house.intents(page)).toBe(2);
  });

  test('told to stop in the middle of work, it ends with 0 and another one goes on', async () => {
    await using house = await build({ SANDBOX_MILLISECONDS: '3000' });
    await house.startServer();
    const first = await house.startWorker('first');
    const id = await house.generate('kling-3.0', 'Handed on');
    await house.running(id);
    expect(await first.end('SIGTERM')).toBe(0);
    await house.startWorker('second');
    expect((await house.ended(id)).status).toBe('UPLOADED');
    expect(house.intents(id)).toBe(1);
  });

  test('a row whose settings break the limits fails before anything is ordered', async () => {
    await using house = await build();
    await house.startServer();
    const id = await house.generate('seedance-2.5', 'Too long');
    house.setConfigs(id, { generateAudio: true, resolution: '720p', durationSeconds: 99, aspectRatio: '16:9' });
    await house.startWorker('only');
    expect(await house.ended(id)).toMatchObject({
      status: 'FAILED',
      generation: { error: { code: 'CONFIG_INVALID', retryable: false } },
    });
    expect(house.intents(id)).toBe(0);
  });

  test('another engine takes over what is open, there and back', async () => {
    await using house = await build({ SANDBOX_MILLISECONDS: '12000' });
    const settings = { GENERATION_ENGINE: 'embedded' };
    const programs = [await house.startServer(settings), await house.startWorker('first')];
    const id = await house.generate('kling-3.0', 'Switched');
    await until('it is ordered', () => house.row(id).stages['submit']?.job);
    const stop = async () => {
      for (const program of programs.splice(0).toReversed()) expect(await program.end('SIGTERM')).toBe(0);
    };
    await stop();
    programs.push(await house.startServer(), await house.startWorker('second'));
    await until('its workflow is there', () => temporal.describe(workflowIdOf(id)).catch(() => null), 5000);
    expect(house.row(id)).toMatchObject({ engine: 'temporal', epoch: 2 });
    await stop();
    programs.push(await house.startServer(settings), await house.startWorker('third'));
    expect((await house.ended(id)).status).toBe('UPLOADED');
    expect(house.row(id)).toMatchObject({ engine: 'embedded', epoch: 4 });
    expect(house.intents(id)).toBe(1);
    await stop();
  });

  test('without Temporal a worker says so once, and stops when it is told', async () => {
    await using house = await House.build({ TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });
    await house.startServer();
    const worker = await house.startWorker('alone');
    await worker.said('Temporal does not answer');
    await new Promise((wait) => setTimeout(wait, 3000));
    expect(worker.output.match(/Temporal does not answer/g)).toHaveLength(1);
    expect(await worker.end('SIGTERM')).toBe(0);
  });

  test('a Temporal that takes connections and says nothing holds up neither', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    await using house = await House.build({ TEMPORAL_ADDRESS: `127.0.0.1:${portOf(silent)}` });
    const server = await house.startServer();
    const worker = await house.startWorker('patient');
    const asked = performance.now();
    await house.generate('markdown', 'Unheard');
    expect(performance.now() - asked).toBeLessThan(300);
    for (const program of [worker, server]) {
      const told = performance.now();
      expect(await program.end('SIGTERM')).toBe(0);
      expect(performance.now() - told).toBeLessThan(5000);
    }
    silent.close();
  });
});

const portOf = (server: Server): number => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
};
