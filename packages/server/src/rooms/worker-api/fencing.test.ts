import { randomUUID } from 'node:crypto';
import type { WorkerClient } from '@review/client/worker';
import { expect, test } from 'vitest';
import { type House, onEachDatabase, refusal } from '../../test/house.ts';
import {
  BROKEN,
  direct,
  fail,
  finish,
  type Held,
  held,
  lapse,
  NO_LIMITS,
  reserveSubmit,
  sendResult,
  stepRecord,
  stored,
  storeResult,
  takeOver,
  workerOf,
} from '../generation/test/generations.ts';
import { sha256 } from '../uploads/test/uploads.ts';

type Parts = Awaited<ReturnType<typeof sendResult>>;
const RESULT = Buffer.from('# Tides');

/** All reports of a worker, each valid under the current epoch. */
const REPORTS: Record<string, (worker: WorkerClient, task: Held, parts: Parts) => Promise<unknown>> = {
  reserveSubmit: (worker, { id, epoch }) =>
    worker.reserveSubmit({
      params: { id },
      body: { epoch, stage: 'next', provider: 'sandbox', intents: 0, token: randomUUID() },
    }),
  'reserveSubmit again': (worker, { id, epoch }) =>
    worker.reserveSubmit({
      params: { id },
      body: { epoch, stage: 'main', provider: 'sandbox', intents: 1, token: randomUUID() },
    }),
  withdraw: (worker, { id, epoch }) =>
    worker.releaseSubmit({ params: { id }, body: { epoch, stage: 'main', intents: 1 } }),
  submitted: (worker, { id, epoch }) =>
    worker.submitted({ params: { id }, body: { epoch, stage: 'main', job: { id: 7 }, jobId: '7' } }),
  progress: (worker, { id, epoch }) => worker.progress({ params: { id }, body: { epoch, progress: 0.9 } }),
  startUpload: (worker, { id, epoch }) => worker.startUpload({ params: { id }, body: { epoch, size: 5 } }),
  completeUpload: (worker, { id, epoch }, parts) =>
    worker.completeUpload({ params: { id }, body: { epoch, parts, sha256: sha256(RESULT) } }),
  recordStep: (worker, { id, epoch }) => {
    const step = { name: 'submit', attempt: 1, outcome: 'SUCCEEDED', message: null, milliseconds: 5 } as const;
    return worker.recordStep({ params: { id }, body: { epoch, ...step } });
  },
  recordSteps: (worker, { id, epoch }) =>
    worker.recordSteps({ params: { id }, body: { epoch, steps: [stepRecord()] } }),
  'progress with steps': (worker, { id, epoch }) =>
    worker.progress({ params: { id }, body: { epoch, progress: 0, steps: [stepRecord()] } }),
  storeResult: (worker, { id, epoch }) =>
    worker.storeResult({ params: { id }, body: { epoch, ...direct(RESULT), steps: [stepRecord()] } }),
  'storeResult with finish': (worker, { id, epoch }) =>
    worker.storeResult({ params: { id }, body: { epoch, ...direct(RESULT), finish: { warnings: [] } } }),
  'finish with success': (worker, { id, epoch }) =>
    worker.finish({ params: { id }, body: { epoch, outcome: { status: 'SUCCEEDED', warnings: ['late'] } } }),
  'finish with failure': (worker, { id, epoch }) =>
    worker.finish({
      params: { id },
      body: { epoch, outcome: { status: 'FAILED', error: BROKEN, warnings: ['late'] } },
    }),
};

const ENDS: Record<string, (house: House, task: Held) => Promise<unknown>> = {
  succeeded: async (house, task) => {
    await storeResult(house, task);
    await finish(house, task);
  },
  failed: fail,
  canceled: (house, { id }) => house.people.owner.client.files.cancel({ params: { id } }),
};

onEachDatabase((house) => {
  /** A running generation with an uploaded but not completed result. */
  async function running(): Promise<{ task: Held; parts: Parts }> {
    const task = await held(house());
    await reserveSubmit(house(), task);
    return { task, parts: await sendResult(house(), task, RESULT) };
  }

  test.each(Object.entries(REPORTS))('%s under the current epoch succeeds', async (_, report) => {
    const { task, parts } = await running();
    if (report === REPORTS['finish with success']) await storeResult(house(), task, RESULT);
    const before = await stored(house(), task.id);
    await report(workerOf(house()), task, parts);
    expect(await stored(house(), task.id)).not.toEqual(before);
  });

  test.each(Object.entries(REPORTS))('%s under an old epoch is 404 and changes nothing', async (_, report) => {
    const { task, parts } = await running();
    if (report === REPORTS['finish with success']) await storeResult(house(), task, RESULT);
    await takeOver(house(), task);
    const before = await stored(house(), task.id);
    await refusal(report(workerOf(house()), task, parts), 'NOT_FOUND');
    expect(await stored(house(), task.id)).toEqual(before);
  });

  test.each(Object.entries(REPORTS))('%s under a future epoch is 404 and changes nothing', async (_, report) => {
    const { task, parts } = await running();
    const before = await stored(house(), task.id);
    await refusal(report(workerOf(house()), { ...task, epoch: task.epoch + 1 }, parts), 'NOT_FOUND');
    expect(await stored(house(), task.id)).toEqual(before);
  });

  const afterEnds = Object.keys(ENDS).flatMap((end) => Object.keys(REPORTS).map((report) => ({ end, report })));
  test.each(afterEnds)('once $end, $report is 404 and changes nothing', async ({ end, report }) => {
    const { task, parts } = await running();
    await ENDS[end]?.(house(), task);
    const before = await stored(house(), task.id);
    await refusal(REPORTS[report]?.(workerOf(house()), task, parts) ?? Promise.resolve(), 'NOT_FOUND');
    expect(await stored(house(), task.id)).toEqual(before);
  });

  test('an old epoch cannot complete the upload of the next one', async () => {
    const { task } = await running();
    const next = await takeOver(house(), task);
    const parts = await sendResult(house(), next, RESULT);
    const body = { parts, sha256: sha256(RESULT) };
    const complete = ({ id, epoch }: Held) =>
      workerOf(house()).completeUpload({ params: { id }, body: { epoch, ...body } });
    await refusal(complete(task), 'NOT_FOUND');
    const { upload } = await stored(house(), task.id);
    await expect(house().deps.storage.read(upload?.storage_key ?? '')).rejects.toThrow();
    await complete(next);
    await finish(house(), next);
  });

  test('a report on a deleted or unknown generation is 404', async () => {
    const { task, parts } = await running();
    await house().people.owner.client.files.delete({ params: { id: task.id } });
    for (const id of [task.id, 'FX00000000000000000000']) {
      for (const report of Object.values(REPORTS)) {
        await refusal(report(workerOf(house()), { id, epoch: task.epoch }, parts), 'NOT_FOUND');
      }
    }
  });

  test('a report under an expired lease succeeds until another worker claims the generation', async () => {
    const { task } = await running();
    await lapse(house(), task.id);
    await workerOf(house()).progress({ params: { id: task.id }, body: { epoch: task.epoch, progress: 0.5 } });
    expect((await stored(house(), task.id)).generation?.progress).toBe(0.5);
  });

  test('the current epoch can read its generation after the end; an old epoch never can', async () => {
    const { task } = await running();
    const read = ({ id, epoch }: Held) => workerOf(house()).getTask({ params: { id }, query: { epoch } });
    const next = await takeOver(house(), task);
    await refusal(read(task), 'NOT_FOUND');
    expect((await read(next)).data).toMatchObject({ fileId: task.id, status: 'RUNNING', stored: false });
    await house().people.owner.client.files.cancel({ params: { id: task.id } });
    expect((await read(next)).data.status).toBe('CANCELED');
    await refusal(read(task), 'NOT_FOUND');
  });
}, NO_LIMITS);
