import fc from 'fast-check';
import { expect } from 'vitest';
import type { House } from '../../../test/house.ts';
import { endOverdue } from '../deadlines.ts';
import {
  emptyQueue,
  fail,
  finish,
  type Held,
  lapse,
  modelNamed,
  queueMany,
  reserveSubmit,
  stored,
  storeResult,
  take,
  workerOf,
} from './generations.ts';

/** All events of a generation, with the epoch that they are reported under. */
const EVENTS: Record<string, (house: House, task: Held) => Promise<unknown>> = {
  reserveSubmit,
  'reserveSubmit again': (house, task) => reserveSubmit(house, task, 'main', 1),
  releaseSubmit: (house, { id, epoch }) =>
    workerOf(house).releaseSubmit({ params: { id }, body: { epoch, stage: 'main', intents: 1 } }),
  submitted: (house, { id, epoch }) =>
    workerOf(house).submitted({ params: { id }, body: { epoch, stage: 'main', job: 7, jobId: '7' } }),
  progress: (house, { id, epoch }) => workerOf(house).progress({ params: { id }, body: { epoch, progress: 0.5 } }),
  start: (house, { id, epoch }) => workerOf(house).startUpload({ params: { id }, body: { epoch, size: 3 } }),
  store: storeResult,
  step: (house, { id, epoch }) => {
    const step = { name: 'x', attempt: 1, outcome: 'SUCCEEDED', message: null, milliseconds: 1 } as const;
    return workerOf(house).recordStep({ params: { id }, body: { epoch, ...step } });
  },
  finish,
  fail,
  renew: (house, { id, epoch }) => workerOf(house).renew({ body: { worker: 'box:1', tasks: [{ fileId: id, epoch }] } }),
  register: (house) => workerOf(house).register({ body: { worker: 'box:1', families: [] } }),
  'hand on': async (house, { id }) => {
    await lapse(house, id);
    await take(house, id);
  },
  cancel: (house, { id }) => house.people.owner.client.files.cancel({ params: { id } }),
  deadline: async (house, { id }) => {
    await house.deps.db
      .updateTable('generations')
      .set({ deadline_at: '2000-01-01 00:00:00.000000' })
      .where('file_id', '=', id)
      .where('status', '=', 'RUNNING')
      .execute();
    await endOverdue(house.deps);
  },
};

const happening = fc.record({ name: fc.constantFrom(...Object.keys(EVENTS)), epoch: fc.integer({ min: 1, max: 3 }) });
/** Rounds of concurrent events. */
const history = fc.array(fc.array(happening, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 8 });

type History = typeof history extends fc.Arbitrary<infer T> ? T : never;
/** Histories that run beside each other. */
const TOGETHER = 10;

const ENDS: Record<string, string> = { SUCCEEDED: 'UPLOADED', FAILED: 'FAILED', CANCELED: 'CANCELED' };

/** R6: no order of events changes a final state. Returns the number of histories that ended. */
export async function holdFinalStates(house: House, runs: number): Promise<number> {
  let ended = 0;

  async function live(id: string, rounds: History): Promise<void> {
    let final: Awaited<ReturnType<typeof stored>> | null = null;
    for (const round of rounds) {
      const happened = await Promise.allSettled(round.map(({ name, epoch }) => EVENTS[name]?.(house, { id, epoch })));
      for (const outcome of happened) {
        if (outcome.status === 'rejected') expect(outcome.reason).not.toMatchObject({ status: 500 });
      }
      const now = await stored(house, id);
      if (final !== null) expect(now).toEqual(final);
      const { generation, file } = now;
      const end = ENDS[generation?.status ?? ''];
      expect(file?.status).toBe(end ?? 'GENERATING');
      if (end === undefined) continue;
      if (final === null) ended += 1;
      final = now;
      expect(generation).toMatchObject({ lease_owner: null, lease_until: null });
      expect(now.upload).toBeUndefined();
      // The content of a file is never scheduled for deletion.
      const kept = file?.storage_key ?? null;
      expect(now.pendingDeletions.map((pendingDeletions) => pendingDeletions.storage_key)).not.toContain(kept);
      expect(kept !== null).toBe(end === 'UPLOADED');
    }
  }

  const property = fc.asyncProperty(
    fc.array(history, { minLength: TOGETHER, maxLength: TOGETHER }),
    async (histories) => {
      await emptyQueue(house);
      // No sweeper runs, and each comparison reads the whole table.
      await house.deps.db.deleteFrom('pending_blob_deletions').execute();
      const ids = await queueMany(house, Array(TOGETHER).fill(modelNamed('markdown')));
      await workerOf(house).claim({ body: { worker: 'box:1', most: 100, wait: 0 } });
      await Promise.all(histories.map((rounds, index) => live(ids[index] ?? '', rounds)));
    },
  );
  await fc.assert(property, { endOnFailure: true, includeErrorInReport: true, numRuns: Math.ceil(runs / TOGETHER) });
  return ended;
}
