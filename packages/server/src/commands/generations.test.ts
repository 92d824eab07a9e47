import { beforeEach, expect, test } from 'vitest';
import {
  emptyQueue,
  FILM,
  fileOf,
  finish,
  generate,
  held,
  modelNamed,
  queueMany,
  reserveSubmit,
  storeResult,
  workerOf,
} from '../rooms/generation/test/generations.ts';
import { onEachDatabase, refusal } from '../test/house.ts';
import { review, reviewJson } from '../test/review.ts';

interface Shown {
  id: string;
  status: string;
  waitingFor: string | null;
  worker: string | null;
  state: string;
}

onEachDatabase((house) => {
  const settings = () => ({ DATABASE_URL: house().databaseUrl, GENERATION_SLOTS: 'VIDEO=1' });
  const list = (...words: string[]) => reviewJson<Shown[]>(settings(), 'generation', 'list', ...words);
  const show = (id: string) => reviewJson<Shown>(settings(), 'generation', 'show', id);
  const idsOf = (listed: Shown[]) => listed.map(({ id }) => id);
  const register = () =>
    workerOf(house()).register({ body: { worker: 'box:1', families: [{ family: 'seedance', state: 'sandbox' }] } });

  beforeEach(async () => {
    await emptyQueue(house());
    for (const name of ['workers', 'paused_families'] as const) await house().deps.db.deleteFrom(name).execute();
  });

  test('list shows open generations, the last queued first, by workspace, family and status, page by page', async () => {
    const models = ['markdown', 'kling-3.0', 'kling-3.0'].map(modelNamed);
    const [page = '', first = '', second = ''] = await queueMany(house(), models);
    const [foreign = ''] = await queueMany(house(), [modelNamed('kling-3.0')], house().people.foreigner.workspaceId);
    const ended = await held(house());
    await storeResult(house(), ended);
    await finish(house(), ended);
    const all = idsOf(await list());
    expect(all.toSorted()).toEqual([page, first, second, foreign].toSorted());
    expect(idsOf(await list('--workspace', house().workspaceId, '--family', 'kling')).toSorted()).toEqual(
      [first, second].toSorted(),
    );
    expect(idsOf(await list('--status', 'succeeded'))).toEqual([ended.id]);
    const start = idsOf(await list('--limit', '3'));
    expect([...start, ...idsOf(await list('--before', start[2] ?? ''))]).toEqual(all);
    const { output } = await review(settings(), 'generation', 'list');
    expect(output).toMatch(/^FILE +WORKSPACE +MODEL +STATUS +WORKER +QUEUED +DEADLINE$/m);
    expect(output).toMatch(/^FX\S+ +\S{36} +kling-3\.0 +QUEUED \(WORKER\) +box:1 /m);
  });

  test('show says why a generation waits: no worker, a pause, no slot', async () => {
    const [first, second] = [await generate(house(), FILM), await generate(house(), FILM)];
    expect(await show(first)).toMatchObject({
      waitingFor: 'WORKER',
      state: expect.stringContaining('No living worker'),
    });
    await register();
    expect(await show(first)).toMatchObject({ waitingFor: null, state: 'It is about to start.' });
    await reviewJson(settings(), 'providers', 'pause', 'seedance');
    expect(await show(first)).toMatchObject({
      waitingFor: 'PAUSED',
      state: expect.stringContaining('resume seedance'),
    });
    await reviewJson(settings(), 'providers', 'resume', 'seedance');
    await workerOf(house()).claim({ body: { worker: 'box:1', most: 1, wait: 0 } });
    expect(await show(second)).toMatchObject({
      waitingFor: 'SLOT',
      state: expect.stringContaining('GENERATION_SLOTS'),
    });
  });

  test('show has the worker, the provider, its job, the submits and the steps, but no prompt', async () => {
    const task = await held(house(), { ...FILM, prompt: 'A lamp on a table by a window, confidential' });
    await reserveSubmit(house(), task);
    const step = { name: 'submit', attempt: 1, outcome: 'SUCCEEDED', message: null, milliseconds: 1, ago: 0 } as const;
    const body = { epoch: task.epoch, stage: 'main', job: { secret: 'signed' }, jobId: 'job-7' };
    const steps = [{ ...step, id: crypto.randomUUID() }];
    await workerOf(house()).submitted({ params: { id: task.id }, body: { ...body, steps } });
    expect(await show(task.id)).toMatchObject({
      status: 'RUNNING',
      engine: 'embedded',
      worker: 'box:1',
      state: expect.stringMatching(/^box:1 holds it until \d{4}-/),
      provider: 'sandbox',
      providerJobId: 'job-7',
      project: { id: house().projectId, name: 'Film' },
      workspace: { name: 'Studio' },
      workflow: null,
      submits: [{ stage: 'main', reserved: 1, isAnswered: true }],
      steps: [{ name: 'submit', attempt: 1, outcome: 'SUCCEEDED' }],
    });
    const { output } = await review(settings(), 'generation', 'show', task.id);
    expect(output).toMatch(/^provider job: job-7$/m);
    expect(output).toMatch(/^submit +1 +SUCCEEDED /m);
    const inFull = await review(settings(), 'generation', 'show', task.id, '--json');
    expect(output + inFull.output).not.toMatch(/confidential|signed/);
  });

  test('cancel ends a generation with its file and its event, and the worker loses it', async () => {
    const task = await held(house());
    expect(await reviewJson(settings(), 'generation', 'cancel', task.id)).toEqual({ id: task.id });
    expect(await fileOf(house(), task.id)).toMatchObject({ status: 'CANCELED', generation: { status: 'CANCELED' } });
    await refusal(reserveSubmit(house(), task), 'NOT_FOUND');
    const { data } = await house().people.owner.client.events.list({ params: { id: house().projectId }, body: {} });
    expect(data[0]).toMatchObject({ type: 'file.generation.canceled', subject: { id: task.id }, actor: null });
    const again = await review(settings(), 'generation', 'cancel', task.id);
    expect([again.code, again.errors]).toEqual([1, expect.stringContaining('has ended as CANCELED, which is final')]);
    const { state } = await show(task.id);
    expect(state).toBe('It has ended as CANCELED.');
  });

  test('requeue takes a running generation from its worker; the next one continues with the reserved submit', async () => {
    const task = await held(house());
    await reserveSubmit(house(), task);
    expect(await reviewJson(settings(), 'generation', 'requeue', task.id)).toEqual({ id: task.id, worker: 'box:1' });
    expect(await show(task.id)).toMatchObject({
      status: 'RUNNING',
      worker: null,
      state: expect.stringContaining('released'),
    });
    await refusal(storeResult(house(), task), 'NOT_FOUND');
    const { data } = await workerOf(house()).claim({ body: { worker: 'box:2', most: 1, wait: 0 } });
    expect(data.tasks).toMatchObject([
      { fileId: task.id, epoch: 3, task: { status: 'RUNNING', stages: { main: { intents: 1 } } } },
    ]);
  });

  test('requeue returns a claimed generation that has not started to the queue', async () => {
    const task = await held(house());
    const { output } = await review(settings(), 'generation', 'requeue', task.id);
    expect(output).toContain('It waits in the queue.');
    const { data } = await workerOf(house()).claim({ body: { worker: 'box:2', most: 1, wait: 0 } });
    expect(data.tasks).toMatchObject([{ fileId: task.id, task: { status: 'QUEUED' } }]);
  });

  test('requeue refuses a generation that waits or has ended', async () => {
    const waiting = await generate(house());
    const refused = await review(settings(), 'generation', 'requeue', waiting);
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('nothing has claimed it')]);
    await reviewJson(settings(), 'generation', 'cancel', waiting);
    const ended = await review(settings(), 'generation', 'requeue', waiting);
    expect([ended.code, ended.errors]).toEqual([1, expect.stringContaining('has ended as CANCELED')]);
  });

  test.each([
    [['show', 'FX'], /no generation of a file FX/],
    [['cancel', 'FX00000000000000000000'], /no generation of a file FX0/],
    [['list', '--status', 'lost'], /--status: write one of QUEUED, /],
    [['list', '--limit', '0'], /--limit: write a whole number from 1 to 1000/],
    [['list', '--family', 'sora'], /no family sora/],
    [['list', '--workspace', 'x'], /no workspace x/],
    [['list', '--before', 'x'], /no generation of a file x/],
  ])('%j exits with 1 and says what is wrong', async (words, message) => {
    const { code, errors } = await review(settings(), 'generation', ...words);
    expect([code, errors]).toEqual([1, expect.stringMatching(message)]);
  });
});
