import { afterEach, beforeEach, expect, test } from 'vitest';
import { startVendor, type Vendor } from '../packages/worker/src/test/vendor.ts';
import { Service, sha256 } from './service.ts';

let vendor: Vendor;
beforeEach(async () => {
  vendor = await startVendor(120_000);
});
afterEach(() => vendor[Symbol.asyncDispose]());

test('a worker that is paused for longer than its lease changes nothing when it resumes', async () => {
  await using service = await Service.start({ TEST_PROVIDER_URL: vendor.url });
  const left = await service.startWorker('left');
  let open = false;
  const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
  vendor.on = ({ kind, moment, order }) => {
    if (kind === 'poll' && !open) return 'running';
    if (kind !== 'submit' || moment !== 'taken' || order.prompt !== 'held') return undefined;
    asked.resolve();
    return go.promise;
  };
  const polled = await service.generate('minimax-h3');
  await expect.poll(() => vendor.paidFor(polled)).toBe(1);
  const submitting = await service.generate('minimax-h3', 'held');
  await asked.promise;
  left.child.kill('SIGSTOP');
  open = true;
  await service.startWorker('right');

  expect(await service.waitForEnd(polled, 60)).toMatchObject({ status: 'UPLOADED' });
  const unknown = await service.waitForEnd(submitting, 60);
  expect(unknown.generation?.error?.code).toBe('SUBMIT_OUTCOME_UNKNOWN');
  const before = [await service.file(polled), await service.file(submitting)];
  left.child.kill('SIGCONT');
  go.resolve(undefined);
  const next = await service.generate('markdown');
  expect((await service.waitForEnd(next)).status).toBe('UPLOADED');
  // By then the response has arrived, after the lease expired: the row does not change.
  expect([await service.file(polled), await service.file(submitting)]).toEqual(before);
  expect(await left.end('SIGTERM')).toBe(0);
  expect([vendor.paidFor(polled), vendor.paidFor(submitting)]).toEqual([1, 1]);
}, 120_000);

test('a family cap applies across two workers, and no family starves', async () => {
  const [CAP, JOBS] = [5, 1000];
  await using service = await Service.start({
    TEST_PROVIDER_URL: vendor.url,
    FAMILY_CAPS: `document=${CAP},minimax=${CAP}`,
    GENERATION_SLOTS: 'DOCUMENT=1000,VIDEO=1000',
    GENERATION_QUEUE_LIMIT: '10000',
  });
  const inFlight = new Map<string, Set<string>>();
  let most = 0;
  vendor.on = ({ kind, moment, order: { outputModel, fileId } }) => {
    const open = inFlight.get(outputModel) ?? new Set();
    inFlight.set(outputModel, open);
    const atOnce = outputModel === 'markdown';
    if (kind === 'submit' && moment === 'asked') open.add(fileId);
    most = Math.max(most, open.size);
    if (kind === 'content' || (atOnce && moment === 'taken')) open.delete(fileId);
    return undefined;
  };
  const ids: string[] = [];
  for (let index = 0; index < JOBS; index += 20) {
    const batch = Array.from({ length: 20 }, (_, at) => service.generate(at % 2 === 0 ? 'minimax-h3' : 'markdown'));
    ids.push(...(await Promise.all(batch)));
  }
  const started = performance.now();
  await service.startWorker('left');
  await service.startWorker('right');
  // The last generation of one family must not wait for all of the other family.
  const halfWay = Promise.all(ids.slice(0, 200).map((id) => service.waitForEnd(id, 240)));
  await halfWay;
  expect(new Set(vendor.orders.map(({ outputType }) => outputType)).size).toBe(2);
  for (const id of ids) expect((await service.waitForEnd(id, 240)).status).toBe('UPLOADED');
  const seconds = (performance.now() - started) / 1000;
  console.log(`${JOBS} jobs in ${seconds.toFixed(0)} s (${(JOBS / seconds).toFixed(0)}/s), at most ${most} in flight`);
  expect(most).toBeLessThanOrEqual(CAP);
  expect(vendor.orders).toHaveLength(JOBS);
  const last = ids.at(-1) ?? '';
  expect(sha256(await service.bytesOf(last))).toBe((await service.file(last)).sha256);
}, 300_000);
