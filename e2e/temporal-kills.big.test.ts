import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startVendor } from '../packages/worker/src/test/vendor.ts';
import { openGate } from './gate.ts';
import { onTemporal } from './on-temporal.ts';

onTemporal('workers killed or paused under Temporal', ({ start }) => {
  test('a worker paused for 20 s during submit resumes beside its replacement: one order, one file', async () => {
    await using vendor = await startVendor(60_000);
    await using service = await start({ TEST_PROVIDER_URL: vendor.url });
    const first = await service.startWorker('first');
    const stopped = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<undefined>();
    vendor.on = ({ kind, moment }) => {
      if (kind !== 'submit' || moment !== 'asked') return undefined;
      first.child.kill('SIGSTOP');
      stopped.resolve();
      return answered.promise;
    };
    const id = await service.generate('minimax-h3', 'Stopped for a while');
    await stopped.promise;
    await Promise.all([service.startWorker('second'), sleep(20_000)]);
    first.child.kill('SIGCONT');
    // Meanwhile Temporal tells the first worker that its attempt has timed out.
    await sleep(3000);
    answered.resolve(undefined);
    const file = await service.waitForEnd(id);
    expect(file.generation).toMatchObject({ status: 'SUCCEEDED', error: null });
    expect(vendor.paidFor(id)).toBe(1);
  });

  test('another worker resumes polling after a kill and submits nothing', async () => {
    await using service = await start({ SANDBOX_MILLISECONDS: '4000' });
    const first = await service.startWorker('first');
    const ids = await Promise.all([service.generate('kling-3.0', 'One'), service.generate('gpt-image-2', 'Two')]);
    for (const id of ids) await service.waitForOrder(id);
    await first.end('SIGKILL');
    await service.startWorker('second');
    for (const id of ids) {
      expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
      expect(await service.intents(id)).toBe(1);
    }
  });

  test('after a kill during submit, a video is not submitted again and a document once more', async () => {
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
    expect(await service.waitForEnd(video)).toMatchObject({
      status: 'FAILED',
      generation: { error: { code: 'SUBMIT_OUTCOME_UNKNOWN' } },
    });
    expect(await service.intents(video)).toBe(1);
    expect((await service.waitForEnd(page)).status).toBe('UPLOADED');
    expect(await service.intents(page)).toBe(2);
  });
});
