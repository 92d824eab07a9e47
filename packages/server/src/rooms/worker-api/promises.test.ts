import { randomUUID } from 'node:crypto';
import type { FamilyState, Provider } from '@review/contract';
import { beforeEach, expect, test } from 'vitest';
import { type House, onEachDatabase } from '../../test/house.ts';
import {
  emptyQueue,
  FILM,
  fileOf,
  generate,
  lapse,
  NO_LIMITS,
  PAGE,
  post,
  workerOf,
} from '../generation/test/generations.ts';

type State = FamilyState['state'];

const families = (state: State): FamilyState[] => [{ family: 'seedance', state }];
const hello = (house: House, worker: string, state: State) =>
  workerOf(house).register({ body: { worker, families: families(state) } });
const claim = async (house: House, worker: string) =>
  (await workerOf(house).claim({ body: { worker, most: 100, wait: 0 } })).data.tasks;
const reserveSubmit = async (house: House, id: string, epoch: number, provider: Provider) =>
  (
    await workerOf(house).reserveSubmit({
      params: { id },
      body: { epoch, stage: 'submit', provider, intents: 0, token: randomUUID() },
    })
  ).data;
/** Sets the last heartbeat to a minute ago. */
const silence = ({ deps }: House, worker: string) =>
  deps.db
    .updateTable('workers')
    .set({ seen_at: deps.clock(-60) })
    .where('name', '=', worker)
    .execute();
const forgetWorkers = ({ deps }: House) => deps.db.deleteFrom('workers').execute();
const providerOf = async ({ people }: House) =>
  (await people.owner.client.models.list()).data.find(({ family }) => family === 'seedance')?.provider;

onEachDatabase((house) => {
  beforeEach(async () => {
    await emptyQueue(house());
    await forgetWorkers(house());
  });

  test('a family is live while one living worker reports it as live', async () => {
    await hello(house(), 'keyed', 'live');
    await hello(house(), 'keyless', 'sandbox');
    expect(await providerOf(house())).toBe('live');
    await silence(house(), 'keyed');
    expect(await providerOf(house())).toBe('sandbox');
    await workerOf(house()).heartbeat({ body: { worker: 'keyed', families: families('live') } });
    expect(await providerOf(house())).toBe('live');
  });

  test('a generation queued while the family was live waits for a worker with the key', async () => {
    await hello(house(), 'keyed', 'live');
    await hello(house(), 'keyless', 'sandbox');
    const id = await generate(house(), FILM);
    expect(await claim(house(), 'keyless')).toEqual([]);
    await silence(house(), 'keyed');
    expect(await claim(house(), 'keyless')).toEqual([]);
    expect((await fileOf(house(), id)).generation).toMatchObject({ status: 'QUEUED', waitingFor: 'WORKER' });
    await hello(house(), 'keyed', 'live');
    expect(await claim(house(), 'keyed')).toMatchObject([{ fileId: id }]);
    expect((await fileOf(house(), id)).generation).toMatchObject({ provider: 'live', waitingFor: null });
  });

  test('a generation queued while no worker had the key runs on any worker', async () => {
    const [first, second] = [await generate(house(), FILM), await generate(house(), FILM)];
    await hello(house(), 'keyless', 'sandbox');
    const body = { worker: 'keyless', most: 1, wait: 0 };
    expect((await workerOf(house()).claim({ body })).data.tasks).toMatchObject([{ fileId: first }]);
    await hello(house(), 'keyed', 'live');
    expect(await claim(house(), 'keyed')).toMatchObject([{ fileId: second }]);
    expect((await fileOf(house(), first)).generation?.provider).toBe('sandbox');
    expect((await fileOf(house(), second)).generation?.provider).toBe('live');
  });

  test('a reservation is granted only for the provider of the claim', async () => {
    await hello(house(), 'keyed', 'live');
    const id = await generate(house(), FILM);
    await claim(house(), 'keyed');
    expect(await reserveSubmit(house(), id, 1, 'sandbox')).toMatchObject({ granted: false, provider: 'live' });
    expect((await fileOf(house(), id)).generation?.status).toBe('QUEUED');
    expect(await reserveSubmit(house(), id, 1, 'live')).toMatchObject({ granted: true, provider: 'live' });
  });

  test('a live run continues only on a worker with the key, a sandbox run on any worker', async () => {
    await hello(house(), 'keyed', 'live');
    const [film, page] = [await generate(house(), FILM), await generate(house(), PAGE)];
    await claim(house(), 'keyed');
    await reserveSubmit(house(), film, 1, 'live');
    await reserveSubmit(house(), page, 1, 'sandbox');
    await lapse(house());
    await hello(house(), 'keyless', 'sandbox');
    expect(await claim(house(), 'keyless')).toMatchObject([{ fileId: page, epoch: 2 }]);
    expect(await claim(house(), 'keyed')).toMatchObject([{ fileId: film, epoch: 2 }]);
  });

  test('a misconfigured worker gets generations only if no other worker can run them', async () => {
    const id = await generate(house(), FILM);
    await hello(house(), 'broken', 'misconfigured');
    await hello(house(), 'keyless', 'sandbox');
    expect(await claim(house(), 'broken')).toEqual([]);
    await silence(house(), 'keyless');
    expect(await claim(house(), 'broken')).toMatchObject([{ fileId: id }]);
    expect((await fileOf(house(), id)).generation?.provider).toBeNull();
  });
}, NO_LIMITS);

onEachDatabase(
  (house) => {
    beforeEach(async () => {
      await emptyQueue(house());
      await forgetWorkers(house());
    });

    test('without the sandbox a worker without keys gets nothing', async () => {
      await hello(house(), 'keyed', 'live');
      const id = await generate(house(), FILM);
      await silence(house(), 'keyed');
      await hello(house(), 'keyless', 'sandbox');
      expect(await claim(house(), 'keyless')).toEqual([]);
      expect((await post(house(), FILM)).status).toBe(422);
      expect((await fileOf(house(), id)).generation).toMatchObject({ status: 'QUEUED', waitingFor: 'WORKER' });
    });

    test('without the sandbox a restarted worker without keys leaves the family available', async () => {
      await hello(house(), 'keyed', 'live');
      await hello(house(), 'keyless', 'sandbox');
      await hello(house(), 'keyless', 'sandbox');
      expect((await post(house(), FILM)).status).toBe(202);
    });

    test('a generation promised to the sandbox does not run there after the sandbox is disabled', async () => {
      await hello(house(), 'keyed', 'live');
      const id = await generate(house(), FILM);
      const { db } = house().deps;
      await db.updateTable('generations').set({ promised: 'sandbox' }).where('file_id', '=', id).execute();
      await hello(house(), 'keyless', 'sandbox');
      expect(await claim(house(), 'keyless')).toEqual([]);
      expect(await claim(house(), 'keyed')).toMatchObject([{ fileId: id }]);
    });
  },
  { ...NO_LIMITS, SANDBOX_PROVIDER: 'off' },
);
