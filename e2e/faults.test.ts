import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Fault, startVendor, type Vendor, type VendorCall } from '../packages/worker/src/test/vendor.ts';
import { NO_MEDIA, Service, sha256 } from './service.ts';

let service: Service;
let vendor: Vendor;
/** The faults to inject, by prompt. */
const scripts = new Map<string, Vendor['on']>();

beforeAll(async () => {
  vendor = await startVendor();
  vendor.on = (call) => scripts.get(call.order.prompt)?.(call);
  service = await Service.start({ ...NO_MEDIA, TEST_PROVIDER_URL: vendor.url, FAMILY_CAPS: 'minimax=50' });
  await service.startWorker('left');
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await vendor[Symbol.asyncDispose]();
});

let prompts = 0;
function askFor(outputModel: string, script: Vendor['on']): Promise<string> {
  const prompt = `Lamp number ${++prompts}`;
  scripts.set(prompt, script);
  return service.generate(outputModel, prompt);
}

const ALWAYS = 1000;
const UNKNOWN = 'SUBMIT_OUTCOME_UNKNOWN';
const REJECTED = 'PROVIDER_REJECTED';
type Row = [
  model: string,
  kind: VendorCall['kind'],
  fault: Fault,
  moment: VendorCall['moment'],
  times: number,
  outcome: string,
  paid: number,
];

const ROWS: Row[] = [
  ['minimax-h3', 'submit', 'hang', 'asked', ALWAYS, UNKNOWN, 0],
  ['minimax-h3', 'submit', 'hang', 'taken', ALWAYS, UNKNOWN, 1],
  ['minimax-h3', 'submit', 'reset', 'taken', ALWAYS, UNKNOWN, 1],
  ['minimax-h3', 'submit', 'error', 'taken', ALWAYS, UNKNOWN, 1],
  ['minimax-h3', 'submit', 'html', 'taken', ALWAYS, UNKNOWN, 1],
  ['hunyuan3d-3.1', 'submit', 'garbage', 'taken', ALWAYS, UNKNOWN, 1],
  ['kling-3.0', 'submit', 'reset', 'taken', ALWAYS, 'UPLOADED', 1],
  ['kling-3.0', 'submit', 'hang', 'asked', 1, 'UPLOADED', 1],
  ['markdown', 'submit', 'hang', 'taken', 1, 'UPLOADED', 2],
  ['pdf', 'submit', 'reset', 'taken', ALWAYS, UNKNOWN, 2],
  ['gpt-image-2', 'submit', 'garbage', 'taken', 1, 'UPLOADED', 2],
  ['minimax-h3', 'submit', 'rate-limited-told', 'asked', 6, 'UPLOADED', 1],
  ['minimax-h3', 'submit', 'rate-limited', 'asked', 3, 'UPLOADED', 1],
  ['meshy-7', 'submit', 'unavailable', 'asked', 2, 'UPLOADED', 2],
  ['minimax-h3', 'submit', 'auth', 'asked', ALWAYS, 'PROVIDER_AUTH', 0],
  ['minimax-h3', 'submit', 'balance', 'asked', ALWAYS, 'PROVIDER_QUOTA', 0],
  ['gemini-3-pro-image', 'submit', 'moderated', 'asked', ALWAYS, 'MODERATED', 0],
  ['minimax-h3', 'poll', 'running', 'asked', 5, 'UPLOADED', 1],
  ['minimax-h3', 'poll', 'hang', 'asked', 1, 'UPLOADED', 1],
  ['minimax-h3', 'poll', 'garbage', 'asked', 2, 'UPLOADED', 1],
  ['minimax-h3', 'poll', 'html', 'asked', 2, 'UPLOADED', 1],
  ['minimax-h3', 'poll', 'error', 'asked', 3, 'UPLOADED', 1],
  ['minimax-h3', 'poll', 'reset', 'asked', 2, 'UPLOADED', 1],
  ['minimax-h3', 'poll', 'rate-limited', 'asked', 2, 'UPLOADED', 1],
  ['minimax-h3', 'poll', 'failed', 'asked', ALWAYS, REJECTED, 1],
  ['minimax-h3', 'poll', 'moderated', 'asked', ALWAYS, 'MODERATED', 1],
  ['minimax-h3', 'poll', 'vanished', 'asked', ALWAYS, REJECTED, 1],
  ['minimax-h3', 'content', 'expired', 'asked', ALWAYS, 'RESULT_EXPIRED', 1],
  ['minimax-h3', 'content', 'empty', 'asked', ALWAYS, REJECTED, 1],
  ['minimax-h3', 'content', 'double', 'asked', ALWAYS, REJECTED, 1],
  ['minimax-h3', 'content', 'html', 'asked', ALWAYS, REJECTED, 1],
  ['hunyuan3d-3.1', 'content', 'garbage', 'asked', ALWAYS, REJECTED, 1],
  ['minimax-h3', 'content', 'half', 'asked', 2, 'UPLOADED', 1],
  ['minimax-h3', 'content', 'hang', 'asked', 1, 'UPLOADED', 1],
  ['minimax-h3', 'content', 'trickle', 'asked', 1, 'UPLOADED', 1],
];

test.concurrent.each(ROWS)('%s, %s: %s when %s, %i times: %s, %i paid', async (...row) => {
  const [model, kind, fault, moment, times, outcome, paid] = row;
  const id = await askFor(model, (call) =>
    call.kind === kind && call.moment === moment && call.count <= times ? fault : undefined,
  );
  const file = await service.waitForEnd(id);
  expect(file.generation?.error?.code ?? file.status).toBe(outcome);
  expect(vendor.paidFor(id)).toBe(paid);
  if (file.status !== 'UPLOADED') return expect([file.status, file.sha256]).toEqual(['FAILED', null]);
  expect(sha256(await service.bytesOf(id))).toBe(file.sha256);
  expect(vendor.hashOf(id)).toContain(file.sha256);
});

test('the Retry-After of a provider is honoured', async () => {
  const id = await askFor('veo-3.1-generate-preview', ({ kind, count }) =>
    kind === 'submit' && count === 1 ? 'rate-limited-told' : undefined,
  );
  expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
  const [first, second] = vendor.calls.filter(({ kind, fileId }) => kind === 'submit' && fileId === id);
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1000);
});

test('a request above a vendor limit fails before anything is ordered', async () => {
  const id = await service.generate('meshy-7', 'x'.repeat(801));
  expect((await service.waitForEnd(id)).generation?.error).toMatchObject({
    code: REJECTED,
    message: expect.stringContaining('800'),
  });
  expect(vendor.paidFor(id)).toBe(0);
});

describe('cancel', () => {
  const cancel = (id: string) => service.client.files.cancel({ params: { id } });

  /** Holds a vendor call until `letGo`. */
  function held(kind: VendorCall['kind'], moment: VendorCall['moment'] = 'asked') {
    const [reached, go] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
    const script: Vendor['on'] = (call) => {
      if (call.kind !== kind || call.moment !== moment) return undefined;
      reached.resolve();
      return go.promise;
    };
    return { script, reached: reached.promise, letGo: () => go.resolve(undefined) };
  }

  test.each([
    ['submit', 'taken'],
    ['content', 'asked'],
  ] as const)('in %s', async (kind, moment) => {
    const hold = held(kind, moment);
    const id = await askFor('minimax-h3', hold.script);
    await hold.reached;
    await cancel(id);
    hold.letGo();
    expect((await service.file(id)).status).toBe('CANCELED');
    // The job is canceled at the provider too.
    await expect.poll(() => vendor.orders.find(({ fileId }) => fileId === id)?.canceled).toBe(true);
    expect((await service.file(id)).status).toBe('CANCELED');
    await expect(service.bytesOf(id)).rejects.toMatchObject({ code: 'FILE_NOT_READY' });
    expect(vendor.paidFor(id)).toBe(1);
  });

  test('while the provider job runs', async () => {
    const id = await askFor('minimax-h3', ({ kind }) => (kind === 'poll' ? 'running' : undefined));
    await expect.poll(() => vendor.paidFor(id)).toBe(1);
    await cancel(id);
    await expect.poll(() => vendor.orders.find(({ fileId }) => fileId === id)?.canceled).toBe(true);
    expect((await service.file(id)).status).toBe('CANCELED');
  });

  test('fails after the end and when repeated', async () => {
    const done = await askFor('minimax-h3', () => undefined);
    expect((await service.waitForEnd(done)).status).toBe('UPLOADED');
    await expect(cancel(done)).rejects.toMatchObject({ code: 'FILE_NOT_CANCELABLE' });
    const id = await askFor('minimax-h3', ({ kind }) => (kind === 'poll' ? 'running' : undefined));
    const both = await Promise.allSettled([cancel(id), cancel(id)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await service.file(id)).status).toBe('CANCELED');
    expect((await service.file(done)).status).toBe('UPLOADED');
  });

  test('before a worker runs: nothing is ordered', async () => {
    await Promise.all([...service.workers].map((worker) => worker.end('SIGTERM')));
    const id = await askFor('minimax-h3', () => undefined);
    await cancel(id);
    await service.startWorker('left');
    const next = await askFor('minimax-h3', () => undefined);
    expect((await service.waitForEnd(next)).status).toBe('UPLOADED');
    expect((await service.file(id)).status).toBe('CANCELED');
    expect(vendor.paidFor(id)).toBe(0);
  });
});
