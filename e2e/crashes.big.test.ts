import { readdir } from 'node:fs/promises';
import { OPEN_GENERATION_STATUSES } from '@review/contract';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { LARGE, SMALL, startVendor, type Vendor, type VendorCall } from '../packages/worker/src/test/vendor.ts';
import { type Gate, openGate, type Passing } from './gate.ts';
import { until } from './processes.ts';
import { Service, sha256 } from './service.ts';

let service: Service;
let vendor: Vendor;
let gate: Gate;
beforeAll(async () => {
  vendor = await startVendor();
  service = await Service.start({ TEST_PROVIDER_URL: vendor.url });
  gate = await openGate(service.url);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await gate[Symbol.asyncDispose]();
  await vendor[Symbol.asyncDispose]();
});
beforeEach(() => {
  gate.on = () => undefined;
  vendor.on = () => undefined;
  vendor.size = SMALL;
});

const startWorker = () => service.startWorker('left', { SERVER_URL: gate.url });

type Point =
  | { server: RegExp; moment: Passing['moment']; size?: number }
  | { vendor: VendorCall['kind']; moment: VendorCall['moment'] };

/** Starts a worker that is killed when it first reaches that point. */
async function workerThatDiesAt(point: Point): Promise<{ dead: Promise<void> }> {
  vendor.size = ('size' in point && point.size) || SMALL;
  const worker = await startWorker();
  const dead = Promise.withResolvers<void>();
  let reached = false;
  const die = async () => {
    reached = true;
    await worker.end();
    dead.resolve();
  };
  if ('server' in point) {
    gate.on = async ({ method, path, moment }) => {
      if (reached || moment !== point.moment || !point.server.test(`${method} ${path}`)) return undefined;
      await die();
      return 'cut';
    };
  } else {
    vendor.on = async ({ kind, moment }) => {
      if (reached || moment !== point.moment || kind !== point.vendor) return undefined;
      await die();
      return 'reset';
    };
  }
  return { dead: dead.promise };
}

const UNKNOWN = 'SUBMIT_OUTCOME_UNKNOWN';
const POINTS = {
  'handed the task': { server: /claim$/, moment: 'after' },
  'before the intent': { server: /intend$/, moment: 'before' },
  'in submit before it is sent': { server: /intend$/, moment: 'after' },
  'in submit after it is sent': { vendor: 'submit', moment: 'asked' },
  'in submit after it is taken': { vendor: 'submit', moment: 'taken' },
  'in submit after its answer': { server: /submitted$/, moment: 'before' },
  'after submit': { server: /submitted$/, moment: 'after' },
  'in awaitJob': { vendor: 'poll', moment: 'asked' },
  'in store while it receives': { vendor: 'content', moment: 'asked' },
  'before a small result is sent': { server: /result$/, moment: 'before' },
  'with half of a small result sent': { server: /result$/, moment: 'half' },
  'after a small result is stored': { server: /result$/, moment: 'after' },
  'in submit after a large answer': { server: /submitted$/, moment: 'before', size: LARGE },
  'in store with half of it sent': { server: /^PUT /, moment: 'half', size: LARGE },
  'in store before it is complete': { server: /upload\.complete$/, moment: 'before', size: LARGE },
  'in store after it is complete': { server: /upload\.complete$/, moment: 'after', size: LARGE },
  'in finish': { server: /finish$/, moment: 'before', size: LARGE },
  'after finish': { server: /finish$/, moment: 'after', size: LARGE },
} satisfies Record<string, Point>;

const CRASHES: [point: keyof typeof POINTS, model: string, outcome: string, paid: number][] = [
  ['handed the task', 'minimax-h3', 'UPLOADED', 1],
  ['before the intent', 'minimax-h3', 'UPLOADED', 1],
  ['in submit before it is sent', 'minimax-h3', UNKNOWN, 0],
  ['in submit before it is sent', 'kling-3.0', 'UPLOADED', 1],
  ['in submit before it is sent', 'markdown', 'UPLOADED', 1],
  ['in submit after it is sent', 'minimax-h3', UNKNOWN, 0],
  ['in submit after it is taken', 'minimax-h3', UNKNOWN, 1],
  ['in submit after it is taken', 'kling-3.0', 'UPLOADED', 1],
  ['in submit after it is taken', 'gpt-image-2', 'UPLOADED', 2],
  ['in submit after its answer', 'hunyuan3d-3.1', UNKNOWN, 1],
  ['in submit after its answer', 'kling-3.0', 'UPLOADED', 1],
  ['in submit after a large answer', 'markdown', 'UPLOADED', 1],
  ['before a small result is sent', 'markdown', 'UPLOADED', 2],
  ['with half of a small result sent', 'gpt-image-2', 'UPLOADED', 2],
  ['after a small result is stored', 'markdown', 'UPLOADED', 1],
  ['after submit', 'minimax-h3', 'UPLOADED', 1],
  ['after submit', 'meshy-7', 'UPLOADED', 2],
  ['in awaitJob', 'veo-3.1-generate-preview', 'UPLOADED', 1],
  ['in store while it receives', 'minimax-h3', 'UPLOADED', 1],
  ['before a small result is sent', 'minimax-h3', 'UPLOADED', 1],
  ['with half of a small result sent', 'meshy-7', 'UPLOADED', 2],
  ['after a small result is stored', 'minimax-h3', 'UPLOADED', 1],
  ['in store with half of it sent', 'minimax-h3', 'UPLOADED', 1],
  ['in store before it is complete', 'meshy-7', 'UPLOADED', 2],
  ['in store after it is complete', 'minimax-h3', 'UPLOADED', 1],
  ['in finish', 'minimax-h3', 'UPLOADED', 1],
  ['after finish', 'minimax-h3', 'UPLOADED', 1],
];

test.each(CRASHES)('a worker killed %s of %s: %s, %i paid', async (point, model, outcome, paid) => {
  const first = await workerThatDiesAt(POINTS[point]);
  const id = await service.generate(model);
  await first.dead;
  const second = await startWorker();
  const file = await service.waitForEnd(id);
  expect(file.generation?.error?.code ?? file.status).toBe(outcome);
  expect(vendor.paidFor(id)).toBe(paid);
  for (const stage of ['preview', 'refine']) expect(vendor.paidFor(id, stage)).toBeLessThanOrEqual(1);
  if (file.status === 'UPLOADED') {
    expect(sha256(await service.bytesOf(id))).toBe(file.sha256);
    expect(vendor.hashOf(id)).toContain(file.sha256);
  }
  expect(await second.end('SIGTERM')).toBe(0);
  expect(await readdir(service.settings['WORK_DIR'] ?? '')).toEqual([]);
});

test('a server killed between the 202 and the claim loses nothing', async () => {
  const ids = await Promise.all(['markdown', 'minimax-h3', 'meshy-7'].map((model) => service.generate(model)));
  await service.restartServer();
  const worker = await startWorker();
  for (const id of ids) expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
  expect(await worker.end('SIGTERM')).toBe(0);
});

test('running jobs survive a killed server; the worker retries until it is back', async () => {
  const worker = await startWorker();
  let open = false;
  vendor.on = ({ kind }) => (kind === 'poll' && !open ? 'running' : undefined);
  const ids = await Promise.all(['minimax-h3', 'kling-3.0', 'hunyuan3d-3.1'].map((model) => service.generate(model)));
  await expect.poll(() => ids.every((id) => vendor.paidFor(id) === 1)).toBe(true);
  await service.restartServer();
  open = true;
  for (const id of ids) {
    expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
    expect(vendor.paidFor(id)).toBe(1);
  }
  expect(await worker.end('SIGTERM')).toBe(0);
});

test.each([
  ['minimax-h3', /submitted$/, SMALL],
  ['markdown', /result$/, SMALL],
  ['markdown', /^PUT /, LARGE],
  ['gpt-image-2', /(?<!renditions\/)upload\.complete$/, LARGE],
])(
  'a server outage while the worker reports the result of %s at %s causes no second order',
  async (model, path, size) => {
    vendor.size = size;
    const worker = await startWorker();
    // The media of earlier files is uploaded on the same paths. An ended worker may hold it for the rest of a lease of 30 s.
    const pending = service.database.db.selectFrom('media').select('file_id').where('status', '=', 'PENDING');
    await until('the media of earlier files is read', async () => (await pending.execute()).length === 0, 90_000);
    let cuts = 0;
    gate.on = ({ method, path: passing, moment }) => {
      if (moment !== 'before' || !path.test(`${method} ${passing}`)) return undefined;
      cuts += 1;
      return cuts <= 4 ? 'cut' : undefined;
    };
    const id = await service.generate(model);
    expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
    expect(cuts).toBe(5);
    expect(vendor.paidFor(id)).toBe(1);
    expect(await worker.end('SIGTERM')).toBe(0);
  },
);

test('another worker takes over at once what a stopping worker releases', async () => {
  const [left, right] = [await service.startWorker('left'), await service.startWorker('right')];
  let open = false;
  vendor.on = ({ kind }) => (kind === 'poll' && !open ? 'running' : undefined);
  const holders = async () => {
    const rows = service.database.db.selectFrom('generations').select('lease_owner');
    const held = await rows.where('status', 'in', OPEN_GENERATION_STATUSES).execute();
    return new Set(held.map((row) => row.lease_owner));
  };
  const ids: string[] = [];
  do ids.push(await service.generate(ids.length % 2 === 0 ? 'minimax-h3' : 'kling-3.0'));
  while ((await holders()).size < 2 || ids.length < 8);
  await expect.poll(() => ids.every((id) => vendor.paidFor(id) === 1)).toBe(true);
  const signalledAt = performance.now();
  expect(await left.end('SIGTERM')).toBe(0);
  await expect.poll(holders).toEqual(new Set(['right']));
  const milliseconds = Math.round(performance.now() - signalledAt);
  console.log(`the other worker held all leases ${milliseconds} ms after SIGTERM`);
  // Without the release, the leases would expire after 20 seconds at the earliest.
  expect(milliseconds).toBeLessThan(5000);
  open = true;
  for (const id of ids) {
    expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
    expect(vendor.paidFor(id)).toBe(1);
  }
  expect(await right.end('SIGTERM')).toBe(0);
});

test('SIGTERM under load: running submits complete, the next worker takes the rest', async () => {
  const worker = await startWorker();
  let taken = 0;
  vendor.on = async ({ kind, moment }) => {
    if (kind === 'submit' && moment === 'taken') {
      taken += 1;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    return undefined;
  };
  const models = ['minimax-h3', 'veo-3.1-generate-preview', 'markdown', 'pdf', 'gpt-image-2', 'gpt-image-2.5-flare'];
  const ids = await Promise.all([...models, ...models, ...models].map((model) => service.generate(model)));
  await expect.poll(() => taken).toBeGreaterThan(0);
  expect(await worker.end('SIGTERM')).toBe(0);
  expect(taken).toBeLessThan(ids.length);
  const next = await startWorker();
  for (const id of ids) {
    expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
    expect(vendor.paidFor(id)).toBe(1);
  }
  expect(await next.end('SIGTERM')).toBe(0);
});
