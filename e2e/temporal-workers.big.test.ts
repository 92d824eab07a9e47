import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { workflowIdOf } from '@review/contract';
import { expect, test } from 'vitest';
import { startVendor } from '../packages/worker/src/test/vendor.ts';
import { freePort } from '../scripts/free-port.ts';
import { onTemporal } from './on-temporal.ts';
import { until } from './processes.ts';
import { Service } from './service.ts';

onTemporal('workers under Temporal', ({ start, temporal }) => {
  test('a failing step gets the attempts of its policy, and waiting uses none', async () => {
    await using vendor = await startVendor();
    vendor.on = ({ kind, count }) => {
      if (kind !== 'submit') return undefined;
      return count <= 2 ? 'rate-limited' : 'unavailable';
    };
    await using service = await start({ TEST_PROVIDER_URL: vendor.url });
    await service.startWorker('only');
    const id = await service.generate('minimax-h3');
    expect((await service.waitForEnd(id)).generation?.error?.code).toBe('PROVIDER_UNAVAILABLE');
    expect(vendor.calls.filter(({ kind }) => kind === 'submit')).toHaveLength(7);
    expect(vendor.paidFor(id)).toBe(0);
  });

  test('a task offered to a worker without the key goes to the one that has it', async () => {
    await using vendor = await startVendor();
    await using service = await start();
    await service.startWorker('keyless');
    await service.startWorker('keyed', { TEST_PROVIDER_URL: vendor.url });
    const ids = await Promise.all(['minimax-h3', 'kling-3.0', 'meshy-7'].map((model) => service.generate(model)));
    for (const id of ids) {
      expect(await service.waitForEnd(id)).toMatchObject({ status: 'UPLOADED', generation: { provider: 'live' } });
      expect(vendor.hashOf(id)).toContain((await service.file(id)).sha256);
    }
  });

  test('a worker stopped during work exits with 0 and another one continues', async () => {
    await using service = await start({ SANDBOX_MILLISECONDS: '3000' });
    const first = await service.startWorker('first');
    const id = await service.generate('kling-3.0', 'Handed on');
    await service.waitForRunning(id);
    expect(await first.end('SIGTERM')).toBe(0);
    await service.startWorker('second');
    expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
    expect(await service.intents(id)).toBe(1);
  });

  test('a step that outlasts the grace period of a stopping worker is continued by another', async () => {
    await using vendor = await startVendor(200_000);
    vendor.on = ({ kind, count }) => (kind === 'submit' && count === 1 ? 'hang' : undefined);
    await using service = await start({ TEST_PROVIDER_URL: vendor.url });
    const first = await service.startWorker('first');
    const id = await service.generate('markdown', 'Hangs');
    await until('it is submitted', async () => vendor.calls.some(({ kind }) => kind === 'submit'));
    const stopped = performance.now();
    expect(await first.end('SIGTERM')).toBe(0);
    const seconds = (performance.now() - stopped) / 1000;
    expect([seconds > 29, seconds < 60]).toEqual([true, true]);
    await service.startWorker('second');
    expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
  });

  test('a draining worker finishes its step and takes no further one, until it is resumed', async () => {
    await using service = await start({ SANDBOX_MILLISECONDS: '3000' });
    const left = await service.startWorker('left');
    const id = await service.generate('kling-3.0', 'Handed on');
    await service.waitForOrder(id);
    await service.review('workers', 'drain', 'left');
    await left.waitForOutput('drained');
    const waiting = await service.generate('markdown', 'Waits');
    await until('it waits', async () => (await service.file(waiting)).generation?.waitingFor === 'WORKER');
    await service.startWorker('right');
    for (const file of [id, waiting]) expect((await service.waitForEnd(file)).status).toBe('UPLOADED');
    expect(await service.intents(id)).toBe(1);

    await service.review('workers', 'drain', 'right');
    const served = left.output.split('serving the queues').length;
    await service.review('workers', 'resume', 'left');
    await until('left serves again', async () => left.output.split('serving the queues').length > served);
    const last = await service.generate('markdown', 'Back');
    expect((await service.waitForEnd(last)).status).toBe('UPLOADED');
    expect(await left.end('SIGTERM')).toBe(0);
  });

  test('a paused family starts no workflow until it is resumed', async () => {
    await using service = await start();
    await service.startWorker('only');
    await service.review('providers', 'pause', 'kling');
    const [id, other] = [await service.generate('kling-3.0'), await service.generate('markdown')];
    expect((await service.waitForEnd(other)).status).toBe('UPLOADED');
    expect(await service.row(id)).toMatchObject({ status: 'QUEUED', engine: null });
    await service.review('providers', 'resume', 'kling');
    expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
  });

  test('a requeued generation gets another workflow and is ordered once', async () => {
    await using service = await start({ SANDBOX_MILLISECONDS: '4000' });
    await service.startWorker('only');
    const id = await service.generate('kling-3.0', 'Requeued');
    await service.waitForOrder(id);
    expect(await service.review('generation', 'show', id)).toMatchObject({
      status: 'RUNNING',
      engine: 'temporal',
      workflow: { id: workflowIdOf(id), pending: [{ worker: 'only' }] },
    });
    await service.review('generation', 'requeue', id);
    expect(await service.waitForEnd(id)).toMatchObject({ status: 'UPLOADED' });
    expect(await service.intents(id)).toBe(1);
    expect(await service.row(id)).toMatchObject({ epoch: 2 });
  });

  test('a row with invalid settings fails before anything is ordered', async () => {
    await using service = await start();
    const id = await service.generate('seedance-2.5', 'Too long');
    // Written directly to the database, because the API would reject it.
    const configs = { generateAudio: true, resolution: '720p', durationSeconds: 99, aspectRatio: '16:9' };
    await service.database.db
      .updateTable('generations')
      .set({ configs: JSON.stringify(configs) })
      .where('file_id', '=', id)
      .execute();
    await service.startWorker('only');
    expect(await service.waitForEnd(id)).toMatchObject({
      status: 'FAILED',
      generation: { error: { code: 'CONFIG_INVALID', retryable: false } },
    });
    expect(await service.intents(id)).toBe(0);
  });

  test('open generations move to another engine and back', async () => {
    await using service = await start({ SANDBOX_MILLISECONDS: '12000' });
    await service.server?.end('SIGTERM');
    const settings = { GENERATION_ENGINE: 'embedded' };
    const programs = [await service.startServer(settings), await service.startWorker('first')];
    const id = await service.generate('kling-3.0', 'Switched');
    await service.waitForOrder(id);
    const stop = async () => {
      for (const program of programs.splice(0).toReversed()) expect(await program.end('SIGTERM')).toBe(0);
    };
    await stop();
    programs.push(await service.startServer(), await service.startWorker('second'));
    await until(
      'the workflow exists',
      () =>
        temporal()
          .describe(workflowIdOf(id))
          .catch(() => null),
      5000,
    );
    expect(await service.row(id)).toMatchObject({ engine: 'temporal', epoch: 2 });
    await stop();
    programs.push(await service.startServer(settings), await service.startWorker('third'));
    expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
    expect(await service.row(id)).toMatchObject({ engine: 'embedded', epoch: 4 });
    expect(await service.intents(id)).toBe(1);
    await stop();
  });

  test('without Temporal a worker logs one message, and stops on SIGTERM', async () => {
    await using service = await Service.start({}, { temporal: { address: `127.0.0.1:${await freePort()}` } });
    const worker = await service.startWorker('alone');
    await worker.waitForOutput('Temporal does not answer');
    await new Promise((wait) => setTimeout(wait, 3000));
    expect(worker.output.match(/Temporal does not answer/g)).toHaveLength(1);
    expect(await worker.end('SIGTERM')).toBe(0);
  });

  test('a Temporal that accepts connections but never responds blocks neither server nor worker', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    await using service = await Service.start({}, { temporal: { address: `127.0.0.1:${portOf(silent)}` } });
    const worker = await service.startWorker('patient');
    const times = [];
    for (let count = 0; count < 3; count++) {
      const asked = performance.now();
      await service.generate('markdown', 'Unheard');
      times.push(performance.now() - asked);
    }
    // The fastest shows that no request waits for Temporal, although the machine may be busy.
    expect(Math.min(...times)).toBeLessThan(300);
    expect(Math.max(...times)).toBeLessThan(3000);
    for (const program of [worker, service.server]) {
      const signalledAt = performance.now();
      expect(await program?.end('SIGTERM')).toBe(0);
      expect(performance.now() - signalledAt).toBeLessThan(5000);
    }
    silent.close();
  });
});

const portOf = (server: Server): number => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no TCP port');
  return address.port;
};
