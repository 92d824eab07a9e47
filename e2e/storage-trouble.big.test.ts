import { readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LARGE, SMALL, startVendor, type Vendor } from '../packages/worker/src/test/vendor.ts';
import { type ObjectStore, startObjectStore } from './object-store.ts';
import { until } from './processes.ts';
import { Service, type Settings, sha256 } from './service.ts';
import { bothEngines, TemporalServer } from './temporal-server.ts';

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor[Symbol.asyncDispose]());
beforeEach(() => {
  vendor.size = SMALL;
});

/** The result of the first is downloaded in its own step; that of the second is in the submit response. */
const MODELS = ['minimax-h3', 'markdown'];

/** Counts pending blob deletions: each retry of an upload leaves the bytes of the previous attempt to the sweep. */
const countLeftovers = async ({ database }: Service) =>
  (await database.db.selectFrom('pending_blob_deletions').select('storage_key').execute()).length;

/** Generates while the storage fails, mends it after retries, and expects every file stored and paid once. */
async function expectRetriesUntilStored(service: Service, mend: () => unknown): Promise<string[]> {
  const before = await countLeftovers(service);
  const ids = await Promise.all(MODELS.map((model) => service.generate(model)));
  await until('each upload was retried', async () => (await countLeftovers(service)) >= before + 2 * ids.length);
  for (const id of ids) expect((await service.file(id)).status).toBe('GENERATING');
  await mend();
  for (const id of ids) {
    const file = await service.waitForEnd(id);
    expect(file.status).toBe('UPLOADED');
    expect(vendor.paidFor(id)).toBe(1);
    expect(sha256(await service.bytesOf(id))).toBe(file.sha256);
    expect(vendor.hashOf(id)).toContain(file.sha256);
  }
  return ids;
}

// The engine does not distinguish disk and S3, so the disk is only tested under one.
describe('a disk', () => {
  const troubleFile = join(tmpdir(), `review-disk-trouble-${process.pid}`);
  const mend = () => rm(troubleFile, { force: true });
  afterEach(mend);

  async function start(settings: Settings = {}): Promise<Service> {
    const preload = new URL('preload/refusing-disk.ts', import.meta.url);
    const troubled = { NODE_OPTIONS: `--import=${preload}`, DISK_TROUBLE: troubleFile };
    const service = await Service.start({
      TEST_PROVIDER_URL: vendor.url,
      LOG_LEVEL: 'silent',
      ...troubled,
      ...settings,
    });
    await service.startWorker('one', { NODE_OPTIONS: '' });
    return service;
  }
  const storageOf = ({ folder }: Service) => join(folder, 'data', 'files');
  const filesIn = async (folder: string) => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  };
  /** Puts a file in place of the folder: permissions would not stop a root user. */
  async function replaceFolder(service: Service): Promise<void> {
    await rm(storageOf(service), { recursive: true, force: true });
    await writeFile(storageOf(service), '');
  }

  test('that is full, read-only or missing delays storing, and no partial upload remains', async () => {
    await using service = await start();
    const objects = join(storageOf(service), 'objects');
    const before = await filesIn(objects);
    const ids = [];
    const troubles = [SMALL, LARGE].flatMap((size) => ['ENOSPC', 'EACCES'].map((code) => ({ size, code })));
    for (const { size, code } of troubles) {
      vendor.size = size;
      await writeFile(troubleFile, code);
      ids.push(...(await expectRetriesUntilStored(service, mend)));
    }
    // The server sweeps at start.
    await service.restartServer();
    await until('the tries are swept', async () => (await countLeftovers(service)) === 0);
    expect(await filesIn(join(storageOf(service), 'parts'))).toEqual([]);
    expect(await filesIn(join(storageOf(service), 'trash'))).toEqual([]);
    expect(await filesIn(objects)).toHaveLength(before.length + ids.length);

    await replaceFolder(service);
    await expectRetriesUntilStored(service, () => rm(storageOf(service)));
  });

  test.each([
    ['is full', 'STORAGE_FULL', () => writeFile(troubleFile, 'ENOSPC')],
    ['is not there', 'INTERNAL', replaceFolder],
  ] as const)('that %s until the deadline: %s, and no content is served', async (_, code, spoil) => {
    await using service = await start({ GENERATION_DEADLINES: 'DOCUMENT=4,VIDEO=4' });
    await spoil(service);
    const ids = await Promise.all(MODELS.map((model) => service.generate(model)));
    for (const id of ids) {
      const file = await service.waitForEnd(id);
      expect(file.generation?.error).toMatchObject({ code, retryable: true });
      expect([file.status, file.sha256, vendor.paidFor(id)]).toEqual(['FAILED', null, 1]);
      await expect(service.bytesOf(id)).rejects.toMatchObject({ code: 'FILE_NOT_READY' });
    }
  });
});

const REFUSALS: [what: string, method: string, path: RegExp, status: number, size: number][] = [
  ['503 to everything', '', /./, 503, SMALL],
  ['507 to a small result', 'PUT', /./, 507, SMALL],
  ['503 to everything of a large result', '', /./, 503, LARGE],
  ['500 to a part', 'PUT', /./, 500, LARGE],
  ['507 to a part', 'PUT', /./, 507, LARGE],
  ['500 to the completion', 'POST', /uploadId=/, 500, LARGE],
];

describe.each(bothEngines())('an S3, under the engine %s', (engine) => {
  let store: ObjectStore;
  let temporal: TemporalServer | null = null;
  let service: Service;
  let before: string[] = [];

  beforeAll(async () => {
    store = await startObjectStore();
    temporal = engine === 'temporal' ? await TemporalServer.start() : null;
    const ground = { objectStore: store, ...(temporal && { temporal }) };
    service = await Service.start({ TEST_PROVIDER_URL: vendor.url, LOG_LEVEL: 'silent' }, ground);
    before = await store.keys();
    await service.startWorker('one');
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await temporal?.[Symbol.asyncDispose]();
    await store?.[Symbol.asyncDispose]();
  });

  test.each(REFUSALS)('that returns %s delays storing', async (_, method, path, status, size) => {
    vendor.size = size;
    const { gate } = store;
    gate.on = (call) =>
      call.moment === 'before' && path.test(call.path) && call.method.includes(method) ? status : undefined;
    const ids = await expectRetriesUntilStored(service, () => {
      gate.on = () => undefined;
    });
    const keys = await store.keys();
    for (const id of ids) expect(keys.filter((key) => key.includes(id))).toHaveLength(1);
  });

  test('contains only results after a sweep', async () => {
    await service.restartServer();
    await until('the tries are swept', async () => (await countLeftovers(service)) === 0);
    expect(await store.keys()).toHaveLength(before.length + REFUSALS.length * MODELS.length);
  });
});

test('an S3 that is full until the deadline: STORAGE_FULL', async () => {
  await using store = await startObjectStore();
  const settings = { TEST_PROVIDER_URL: vendor.url, GENERATION_DEADLINES: 'VIDEO=4' };
  await using service = await Service.start(settings, { objectStore: store });
  const before = await store.keys();
  store.gate.on = ({ method, moment }) => (method === 'PUT' && moment === 'before' ? 507 : undefined);
  await service.startWorker('one');
  const id = await service.generate('minimax-h3');
  expect((await service.waitForEnd(id)).generation?.error?.code).toBe('STORAGE_FULL');
  expect(vendor.paidFor(id)).toBe(1);
  expect(await store.keys()).toEqual(before);
});
