import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openGate } from './gate.ts';
import { Service } from './service.ts';
import { lacksTemporal, TemporalServer } from './temporal-server.ts';

const isLacking = lacksTemporal();
const QUICKLY = { RECONCILE_SECONDS: '1' };

describe.skipIf(isLacking)('workers that are killed under Temporal', () => {
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
});
