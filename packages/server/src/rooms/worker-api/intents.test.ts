import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { secondsFromNow } from '../../db/time.ts';
import { onEachDatabase } from '../../test/house.ts';
import {
  fileOf,
  held,
  MESH,
  NO_LIMITS,
  reserveSubmit,
  stored,
  takeOver,
  workerOf,
} from '../generation/test/generations.ts';

onEachDatabase(
  (house) => {
    const stageOf = async (id: string, stage = 'main') => {
      const known = JSON.parse((await stored(house(), id)).generation?.stages ?? '{}')[stage];
      return known && { intents: known.intents, job: known.job };
    };
    const submitted = (id: string, epoch: number, job: unknown, jobId: string | null) =>
      workerOf(house()).submitted({ params: { id }, body: { epoch, stage: 'main', job, jobId } });
    const withdraw = (id: string, epoch: number, intents = 1) =>
      workerOf(house()).releaseSubmit({ params: { id }, body: { epoch, stage: 'main', intents } });

    test('the first reservation is granted: the generation runs, with its deadline and provider', async () => {
      const task = await held(house(), MESH);
      expect((await fileOf(house(), task.id)).generation).toMatchObject({ status: 'QUEUED', startedAt: null });
      const from = [secondsFromNow(0), secondsFromNow(70)];
      expect((await reserveSubmit(house(), task)).data).toEqual({
        granted: true,
        stage: { intents: 1, job: null },
        provider: 'sandbox',
      });
      const { generation } = await fileOf(house(), task.id);
      expect(generation).toMatchObject({ status: 'RUNNING', provider: 'sandbox' });
      const deadline = (await stored(house(), task.id)).generation?.deadline_at ?? '';
      expect([(generation?.startedAt ?? '') >= (from[0] ?? ''), deadline >= (from[1] ?? '')]).toEqual([true, true]);
      expect(deadline <= secondsFromNow(70)).toBe(true);
    });

    test('start and deadline are set once, also with a later epoch', async () => {
      const task = await held(house());
      await reserveSubmit(house(), task);
      const first = (await stored(house(), task.id)).generation;
      const next = await takeOver(house(), task);
      expect((await reserveSubmit(house(), next, 'main', 1)).data.granted).toBe(true);
      expect((await reserveSubmit(house(), next, 'refine')).data.granted).toBe(true);
      const { started_at, deadline_at } = (await stored(house(), task.id)).generation ?? {};
      expect({ started_at, deadline_at }).toEqual({ started_at: first?.started_at, deadline_at: first?.deadline_at });
      expect(started_at).not.toBeNull();
    });

    test('a second reservation with an outdated count is not granted and changes nothing', async () => {
      const task = await held(house());
      await reserveSubmit(house(), task);
      const before = await stored(house(), task.id);
      expect((await reserveSubmit(house(), task)).data).toEqual({
        granted: false,
        stage: { intents: 1, job: null },
        provider: 'sandbox',
      });
      expect(await stored(house(), task.id)).toEqual(before);
    });

    test('of 20 concurrent reservations one is granted', async () => {
      const task = await held(house());
      const answers = await Promise.all(Array.from({ length: 20 }, () => reserveSubmit(house(), task)));
      expect(answers.filter(({ data }) => data.granted)).toHaveLength(1);
      expect(await stageOf(task.id)).toEqual({ intents: 1, job: null });
    });

    test('a reservation with the current count is granted and counted', async () => {
      const task = await held(house());
      await reserveSubmit(house(), task);
      expect((await reserveSubmit(house(), task, 'main', 1)).data).toEqual({
        granted: true,
        stage: { intents: 2, job: null },
        provider: 'sandbox',
      });
    });

    test('each stage has its own count', async () => {
      const task = await held(house());
      await reserveSubmit(house(), task, 'preview');
      expect((await reserveSubmit(house(), task, 'refine')).data.granted).toBe(true);
      expect(await stageOf(task.id, 'preview')).toEqual({ intents: 1, job: null });
      expect(await stageOf(task.id, 'refine')).toEqual({ intents: 1, job: null });
    });

    test('a retried reservation with the same token is granted again and counts once', async () => {
      const { id, epoch } = await held(house());
      const body = { epoch, stage: 'main', provider: 'sandbox', intents: 0, token: randomUUID() } as const;
      for (const _ of ['first', 'again']) {
        const { data } = await workerOf(house()).reserveSubmit({ params: { id }, body });
        expect(data).toEqual({ granted: true, stage: { intents: 1, job: null }, provider: 'sandbox' });
      }
      const other = await workerOf(house()).reserveSubmit({ params: { id }, body: { ...body, token: randomUUID() } });
      expect(other.data.granted).toBe(false);
    });

    test('the next epoch sees the reservation', async () => {
      const task = await held(house());
      await reserveSubmit(house(), task);
      const { id, epoch } = await takeOver(house(), task);
      const { data } = await workerOf(house()).getTask({ params: { id }, query: { epoch } });
      expect(data.stages).toEqual({ main: { intents: 1, job: null } });
    });

    test('releasing takes back one reservation: the first is granted again', async () => {
      const task = await held(house());
      await reserveSubmit(house(), task);
      await withdraw(task.id, task.epoch);
      expect(await stageOf(task.id)).toEqual({ intents: 0, job: null });
      expect((await reserveSubmit(house(), task)).data).toMatchObject({ granted: true, stage: { intents: 1 } });
    });

    test('releasing without a reservation, or twice, changes nothing', async () => {
      const task = await held(house());
      await withdraw(task.id, task.epoch);
      expect(await stageOf(task.id)).toBeUndefined();
      await reserveSubmit(house(), task);
      await withdraw(task.id, task.epoch);
      await withdraw(task.id, task.epoch);
      expect(await stageOf(task.id)).toEqual({ intents: 0, job: null });
      expect((await reserveSubmit(house(), task)).data.granted).toBe(true);
    });

    test('a repeated release takes back one of two reservations', async () => {
      const task = await held(house());
      await reserveSubmit(house(), task);
      await reserveSubmit(house(), task, 'main', 1);
      await withdraw(task.id, task.epoch, 2);
      await withdraw(task.id, task.epoch, 2);
      expect(await stageOf(task.id)).toEqual({ intents: 1, job: null });
    });

    test('a submitted job is stored and shown, and cannot be reserved or released again', async () => {
      const task = await held(house());
      await reserveSubmit(house(), task);
      const job = { id: 'job-7', nested: [1, null, 'ü'] };
      await submitted(task.id, task.epoch, job, 'job-7');
      const { id, epoch } = await takeOver(house(), task);
      const read = () => workerOf(house()).getTask({ params: { id }, query: { epoch } });
      expect((await read()).data.stages).toEqual({ main: { intents: 1, job } });
      await withdraw(id, epoch);
      expect((await reserveSubmit(house(), { id, epoch }, 'main', 1)).data).toEqual({
        granted: false,
        stage: { intents: 1, job },
        provider: 'sandbox',
      });
      expect((await read()).data.stages).toEqual({ main: { intents: 1, job } });
      const { data } = await house().people.owner.client.files.getGeneration({ params: { id } });
      expect(data.providerJobId).toBe('job-7');
    });

    test('progress only increases', async () => {
      const task = await held(house());
      const { id, epoch } = task;
      const report = (progress: number) => workerOf(house()).progress({ params: { id }, body: { epoch, progress } });
      for (const progress of [0.2, 0.6, 0.4, 0]) await report(progress);
      expect((await fileOf(house(), id)).generation?.progress).toBe(0.6);
      for (const progress of [-0.1, 1.1]) await expect(report(progress)).rejects.toMatchObject({ status: 400 });
    });
  },
  { ...NO_LIMITS, GENERATION_DEADLINES: '3D=70' },
);
