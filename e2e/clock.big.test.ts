import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startVendor, type Vendor } from '../packages/worker/src/test/vendor.ts';
import type { Program } from './processes.ts';
import { Service } from './service.ts';
import { bothEngines, TemporalServer } from './temporal-server.ts';

const HOUR = 3_600_000;
/** Deadlines are checked every second, leases every half second. */
const LOOKED_AT_MS = 2500;

describe.each(bothEngines())('under the engine %s', (engine) => {
  let vendor: Vendor;
  let temporal: TemporalServer | null = null;
  beforeAll(async () => {
    temporal = engine === 'temporal' ? await TemporalServer.start() : null;
  });
  afterAll(() => temporal?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    vendor = await startVendor(60_000);
    return () => vendor[Symbol.asyncDispose]();
  });

  test.each([
    ['server', 'forward', HOUR],
    ['server', 'back', -HOUR],
    ['worker', 'forward', HOUR],
    ['worker', 'back', -HOUR],
  ] as const)('generations survive a jump of the %s clock by an hour %s', async (whose, _, jump) => {
    const preload = new URL('preload/jumping-clock.ts', import.meta.url);
    const clock = { NODE_OPTIONS: `--import=${preload}`, CLOCK_JUMP: String(jump) };
    const settings = { TEST_PROVIDER_URL: vendor.url, ...clock };
    await using service = await Service.start(settings, temporal ? { temporal } : {});
    const worker = await service.startWorker('one');

    let open = false;
    const go = Promise.withResolvers<undefined>();
    vendor.on = ({ kind, moment, order }) => {
      if (kind === 'poll') return open ? undefined : 'running';
      return kind === 'submit' && moment === 'taken' && order.prompt === 'held' ? go.promise : undefined;
    };
    const ids = await Promise.all([
      service.generate('minimax-h3'),
      service.generate('meshy-7'),
      // These are being submitted when the clock jumps: another worker could not know whether the order was accepted.
      service.generate('minimax-h3', 'held'),
      service.generate('markdown', 'held'),
    ]);
    await expect.poll(() => ids.every((id) => vendor.paidFor(id) === 1), { timeout: 60_000 }).toBe(true);

    const jumper: Program | null = whose === 'server' ? service.server : worker;
    jumper?.child.kill('SIGUSR2');
    await sleep(LOOKED_AT_MS);
    const later = await service.generate('pdf');
    expect((await service.waitForEnd(later)).status).toBe('UPLOADED');
    for (const id of ids) expect((await service.file(id)).status).toBe('GENERATING');

    open = true;
    go.resolve(undefined);
    for (const id of ids) {
      expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
      for (const stage of ['submit', 'preview', 'refine']) {
        expect(vendor.paidFor(id, stage)).toBeLessThanOrEqual(1);
      }
      expect((await service.row(id)).epoch).toBe(1);
    }
  });
});
