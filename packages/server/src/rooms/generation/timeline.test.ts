import type { GenerationStep } from '@review/contract';
import { expect, test } from 'vitest';
import { onEachDatabase, type PersonName, refusal } from '../../test/house.ts';
import { uploadFile } from '../uploads/test/uploads.ts';
import {
  BY_EDITORS,
  fail,
  fileOf,
  finish,
  generate,
  type Held,
  held,
  NO_LIMITS,
  reserveSubmit,
  stepRecord,
  storeResult,
  takeOver,
  workerOf,
} from './test/generations.ts';

type Outcome = GenerationStep['outcome'];

onEachDatabase((house) => {
  const read = async (id: string, person: PersonName = 'owner') =>
    (await house().people[person].client.files.getGeneration({ params: { id } })).data;
  const step = (
    { id, epoch }: Held,
    name: string,
    attempt: number,
    outcome: Outcome,
    message: string | null = null,
    milliseconds = 1500,
  ) => workerOf(house()).recordStep({ params: { id }, body: { epoch, name, attempt, outcome, message, milliseconds } });

  test('a queued generation has no steps and no engine', async () => {
    const id = await generate(house());
    expect(await read(id)).toEqual({
      ...(await fileOf(house(), id)).generation,
      steps: [],
      providerJobId: null,
      engine: null,
      workflowUrl: null,
    });
  });

  test('steps are listed in order with attempts, outcomes and times, over several workers', async () => {
    const task = await held(house());
    await reserveSubmit(house(), task);
    await step(task, 'prepare', 1, 'SUCCEEDED');
    await step(task, 'submit', 1, 'RETRIED', '503 from the provider');
    await step(task, 'submit', 2, 'RETRIED', '503 from the provider');
    const next = await takeOver(house(), task);
    await step(next, 'prepare', 1, 'SUCCEEDED');
    await step(next, 'submit', 1, 'FAILED', 'refused');
    await fail(house(), next);
    const { steps, engine, ...generation } = await read(task.id);
    expect(steps.map(({ name, attempt, outcome, message }) => [name, attempt, outcome, message])).toEqual([
      ['prepare', 1, 'SUCCEEDED', null],
      ['submit', 1, 'RETRIED', '503 from the provider'],
      ['submit', 2, 'RETRIED', '503 from the provider'],
      ['prepare', 1, 'SUCCEEDED', null],
      ['submit', 1, 'FAILED', 'refused'],
    ]);
    const time = (text: string | null) => Date.parse(`${text?.slice(0, 23).replace(' ', 'T')}Z`);
    for (const { startedAt, finishedAt } of steps) {
      expect(Math.abs(time(finishedAt) - time(startedAt) - 1500)).toBeLessThan(50);
    }
    expect([engine, generation.status, generation.workflowUrl]).toEqual(['embedded', 'FAILED', null]);
  });

  test('the end is recorded as a step', async () => {
    const task = await held(house());
    await reserveSubmit(house(), task);
    await step(task, 'finish', 1, 'RETRIED', 'the server was busy');
    await storeResult(house(), task);
    await finish(house(), task);
    const { steps, finishedAt } = await read(task.id);
    expect(steps.map(({ name, attempt, outcome }) => [name, attempt, outcome])).toEqual([
      ['finish', 1, 'RETRIED'],
      ['finish', 2, 'SUCCEEDED'],
    ]);
    expect(steps[1]?.finishedAt && finishedAt && steps[1].finishedAt <= finishedAt).toBe(true);
  });

  test('a batch is recorded in order with the times of its attempts, and repeating it changes nothing', async () => {
    const task = await held(house());
    const { id, epoch } = task;
    const steps = [
      stepRecord({ name: 'prepare', milliseconds: 2000, ago: 60_000 }),
      stepRecord({
        name: 'submit',
        outcome: 'RETRIED',
        message: 'torn \ud800, and \0 zero',
        milliseconds: 1000,
        ago: 30_000,
      }),
    ];
    await workerOf(house()).recordSteps({ params: { id }, body: { epoch, steps } });
    await workerOf(house()).recordSteps({ params: { id }, body: { epoch, steps } });
    const more = [...steps, stepRecord({ name: 'submit', attempt: 2 })];
    await workerOf(house()).progress({ params: { id }, body: { epoch, progress: 0, steps: more } });
    const { steps: shown } = await read(id);
    expect(shown.map(({ name, attempt, outcome, message }) => [name, attempt, outcome, message])).toEqual([
      ['prepare', 1, 'SUCCEEDED', null],
      ['submit', 1, 'RETRIED', 'torn \ufffd, and  zero'],
      ['submit', 2, 'SUCCEEDED', null],
    ]);
    const time = (text: string | null | undefined) => Date.parse(`${text?.slice(0, 23).replace(' ', 'T')}Z`);
    const [first, second] = shown;
    expect(time(first?.finishedAt) - time(first?.startedAt)).toBe(2000);
    expect(Math.abs(time(second?.startedAt) - time(first?.finishedAt) - 29_000)).toBeLessThan(50);
  });

  test('a report that is repeated after a lost answer records its steps once', async () => {
    const { id, epoch } = await held(house());
    const steps = [stepRecord({ name: 'prepare' })];
    const body = { epoch, stage: 'main', job: { id: 'x' }, jobId: 'x', steps };
    for (let call = 0; call < 2; call += 1) await workerOf(house()).submitted({ params: { id }, body });
    expect((await read(id)).steps.map(({ name }) => name)).toEqual(['prepare']);
  });

  test('parallel steps are all kept', async () => {
    const task = await held(house());
    await Promise.all(Array.from({ length: 10 }, (_, index) => step(task, 'poll', index + 1, 'RETRIED')));
    const { steps } = await read(task.id);
    expect(steps.map(({ attempt }) => attempt).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test('a plain upload has no generation: 404', async () => {
    await refusal(read(await uploadFile(house())), 'NOT_FOUND');
  });

  test.each(BY_EDITORS)('read by %s: %s', async (person, code) => {
    const id = await generate(house());
    if (code === null) expect((await read(id, person)).status).toBe('QUEUED');
    else await refusal(read(id, person), code);
  });

  test('files:read is needed', async () => {
    const { client } = await house().withScopes('owner', ['ai:generate']);
    await refusal(client.files.getGeneration({ params: { id: await generate(house()) } }), 'INSUFFICIENT_SCOPE');
  });
}, NO_LIMITS);
