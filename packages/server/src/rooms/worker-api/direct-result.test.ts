import { MAX_DIRECT_RESULT, type StepRecord } from '@review/contract';
import { expect, test, vi } from 'vitest';
import { StorageFull } from '../../storage/storage.ts';
import { sweep } from '../../sweeper.ts';
import { onEachDatabase, refusal } from '../../test/house.ts';
import {
  direct,
  fail,
  fileOf,
  finish,
  type Held,
  held,
  NO_LIMITS,
  PICTURE,
  PNG,
  reserveSubmit,
  sendResult,
  stepRecord,
  stored,
  workerOf,
} from '../generation/test/generations.ts';
import { sha256 } from '../uploads/test/uploads.ts';

const TEXT = Buffer.from('# Tides\n\nThey come and go.');
const JOB = { stage: 'main', job: { id: 'x', done: true, warnings: [] }, jobId: null };

onEachDatabase((house) => {
  const send = ({ id, epoch }: Held, bytes: Uint8Array, own: { sha256?: string; steps?: StepRecord[] } = {}) =>
    workerOf(house()).storeResult({
      params: { id },
      body: { epoch, ...direct(bytes), finish: { warnings: ['short'] }, ...own },
    });
  const keep = ({ id, epoch }: Held, bytes: Uint8Array) =>
    workerOf(house()).storeResult({ params: { id }, body: { epoch, ...direct(bytes), submitted: JOB } });
  const sizeOf = (key = '') => house().deps.storage.sizeOf(key);
  async function running(asked = {}): Promise<Held> {
    const task = await held(house(), asked);
    await reserveSubmit(house(), task);
    return task;
  }
  const contentOf = async (id: string) => {
    const { url } = (await house().people.owner.client.files.download({ params: { id } })).data;
    return Buffer.from(await (await fetch(url)).arrayBuffer());
  };

  test('one call stores the result, records the steps and ends the generation', async () => {
    const task = await running(PICTURE);
    await send(task, PNG, { steps: [stepRecord({ name: 'awaitJob' }), stepRecord({ name: 'store' })] });
    const { generation, upload, steps, pendingDeletions } = await stored(house(), task.id);
    expect(await fileOf(house(), task.id)).toMatchObject({
      status: 'UPLOADED',
      mimeType: 'image/png',
      size: PNG.length,
      sha256: sha256(PNG),
      generation: { status: 'SUCCEEDED', progress: 1, warnings: ['short'] },
    });
    expect(generation).toMatchObject({ lease_owner: null, lease_until: null });
    expect(steps.map(({ name, attempt }) => [name, attempt])).toEqual([
      ['awaitJob', 1],
      ['store', 1],
      ['finish', 1],
    ]);
    expect([upload, pendingDeletions]).toEqual([undefined, []]);
    expect(await contentOf(task.id)).toEqual(PNG);
  });

  test('the answer to a submit is stored with its job; the generation stays open until it is finished', async () => {
    const task = await running();
    await keep(task, TEXT);
    const { data } = await workerOf(house()).getTask({ params: { id: task.id }, query: { epoch: task.epoch } });
    expect(data).toMatchObject({ status: 'RUNNING', stored: true, stages: { main: { intents: 1, job: JOB.job } } });
    await finish(house(), task);
    expect(await fileOf(house(), task.id)).toMatchObject({ status: 'UPLOADED', sha256: sha256(TEXT) });
    expect(await contentOf(task.id)).toEqual(TEXT);
  });

  test('a repeated result replaces the first, whose bytes are deleted', async () => {
    const task = await running();
    await keep(task, TEXT);
    const first = (await stored(house(), task.id)).upload?.storage_key;
    await keep(task, Buffer.from('# Second'));
    expect((await stored(house(), task.id)).pendingDeletions.map((blob) => blob.storage_key)).toEqual([first]);
    await sweep(house().deps);
    expect(await sizeOf(first)).toBeNull();
    await finish(house(), task);
    expect((await contentOf(task.id)).toString()).toBe('# Second');
  });

  test('it replaces an unfinished upload', async () => {
    const task = await running();
    await sendResult(house(), task, TEXT);
    const former = (await stored(house(), task.id)).upload?.storage_key;
    await send(task, TEXT);
    const { upload, pendingDeletions } = await stored(house(), task.id);
    expect([upload, pendingDeletions.map((blob) => blob.storage_key)]).toEqual([undefined, [former]]);
    expect(await contentOf(task.id)).toEqual(TEXT);
  });

  test('a wrong hash and a type that the model does not make are refused; the generation stays open', async () => {
    const task = await running();
    await refusal(send(task, TEXT, { sha256: sha256(PNG) }), 'PARTS_MISMATCH');
    await refusal(send(task, PNG), 'PARTS_MISMATCH');
    await refusal(keep(task, PNG), 'PARTS_MISMATCH');
    expect((await stored(house(), task.id)).generation).toMatchObject({ status: 'RUNNING', result: null });
    const key = (await stored(house(), task.id)).upload?.storage_key;
    expect(await sizeOf(key)).toBe(PNG.length);
    await fail(house(), task);
    await sweep(house().deps);
    expect(await sizeOf(key)).toBeNull();
  });

  test('of parallel calls one counts, and no bytes of the others remain', async () => {
    const task = await running();
    const texts = Array.from({ length: 8 }, (_, index) => Buffer.from(`# Tides ${index}`));
    const answers = await Promise.allSettled(texts.map((text) => send(task, text)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const winner = texts[answers.findIndex(({ status }) => status === 'fulfilled')] ?? TEXT;
    expect(await contentOf(task.id)).toEqual(winner);
    await sweep(house().deps);
    const left: string[] = [];
    for await (const { key } of house().deps.storage.list()) if (key.startsWith(task.id)) left.push(key);
    expect(left).toEqual([(await stored(house(), task.id)).file?.storage_key]);
  });

  test('a result of a generation that ended while its bytes were stored is deleted', async () => {
    const task = await running();
    const { storage, db } = house().deps;
    const { put } = storage;
    let key = '';
    const spy = vi.spyOn(storage, 'put').mockImplementationOnce(async (stored, bytes) => {
      key = stored;
      await house().people.owner.client.files.cancel({ params: { id: task.id } });
      // As if the sweep had run before the bytes arrived.
      await db.deleteFrom('pending_blob_deletions').where('storage_key', '=', key).execute();
      await put(stored, bytes);
    });
    await refusal(send(task, TEXT), 'NOT_FOUND');
    spy.mockRestore();
    expect(await sizeOf(key)).toBe(TEXT.length);
    await sweep(house().deps);
    expect(await sizeOf(key)).toBeNull();
  });

  test('a full storage is 507, and the call can be repeated', async () => {
    const task = await running();
    vi.spyOn(house().deps.storage, 'put').mockRejectedValueOnce(new StorageFull('full'));
    await refusal(send(task, TEXT), 'STORAGE_FULL');
    expect((await stored(house(), task.id)).generation?.status).toBe('RUNNING');
    await send(task, TEXT);
    expect(await contentOf(task.id)).toEqual(TEXT);
  });

  test('the limit is 256 KiB', async () => {
    const task = await running();
    await refusal(send(task, Buffer.alloc(MAX_DIRECT_RESULT + 3, 'a')), 'INVALID_REQUEST');
    await send(task, Buffer.alloc(MAX_DIRECT_RESULT, 'a'));
    expect((await fileOf(house(), task.id)).size).toBe(MAX_DIRECT_RESULT);
  });
}, NO_LIMITS);
