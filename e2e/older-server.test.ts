import { WORKER_API_VERSION, WORKER_API_VERSION_HEADER } from '@review/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startVendor, type Vendor } from '../packages/worker/src/test/vendor.ts';
import { type Gate, openGate } from './gate.ts';
import { NO_MEDIA, Service } from './service.ts';
import { ENGINES, TemporalServer } from './temporal-server.ts';

describe.each(ENGINES)('a worker of the %s engine whose server is rolled back', (engine) => {
  let temporal: TemporalServer | undefined;
  let service: Service;
  let vendor: Vendor;
  let gate: Gate;

  beforeAll(async () => {
    if (engine === 'temporal') temporal = await TemporalServer.start();
    vendor = await startVendor();
    service = await Service.start({ ...NO_MEDIA, TEST_PROVIDER_URL: vendor.url }, temporal ? { temporal } : {});
    gate = await openGate(service.url);
  });
  afterAll(async () => {
    await gate[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
    await vendor[Symbol.asyncDispose]();
    await temporal?.[Symbol.asyncDispose]();
  });

  /** An older server refuses the report of a submit, because it has a field that is new. */
  function rollBack(): void {
    gate.headers = { [WORKER_API_VERSION_HEADER]: String(WORKER_API_VERSION - 1) };
    gate.on = ({ path, moment }) => (moment === 'before' && path.endsWith('/submitted') ? 400 : undefined);
  }

  function upgrade(): void {
    gate.headers = {};
    gate.on = () => undefined;
  }

  test('takes no work until the upgrade, and then records the order that it has paid for', async () => {
    const newer = await service.startWorker('newer', { SERVER_URL: gate.url });
    vendor.on = ({ kind, moment }) => {
      if (kind === 'submit' && moment === 'taken') rollBack();
      return undefined;
    };
    const paid = await service.generate('minimax-h3', 'Ordered before the roll-back');
    await newer.waitForOutput('the server is older than this worker; waiting until it is upgraded');
    vendor.on = () => undefined;

    const next = await service.generate('minimax-h3', 'Ordered after the roll-back');
    const older = await service.startWorker('older');
    expect((await service.waitForEnd(next)).status).toBe('UPLOADED');
    expect((await service.row(paid)).status).toBe('RUNNING');
    await older.end();

    upgrade();
    expect((await service.waitForEnd(paid)).status).toBe('UPLOADED');
    await newer.waitForOutput('the server is as new as this worker; taking work again');
    const last = await service.generate('minimax-h3', 'Ordered after the upgrade');
    expect((await service.waitForEnd(last)).status).toBe('UPLOADED');
    for (const id of [paid, next, last]) expect(await service.intents(id)).toBe(1);
    expect(vendor.orders).toHaveLength(3);
  });
});
