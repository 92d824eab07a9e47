import { beforeEach, expect, test } from 'vitest';
import { steadyTime } from '../../db/clock.ts';
import { secondsFromNow } from '../../db/time.ts';
import { TIMED } from '../../test/eventually.ts';
import { type House, onEachDatabase, openHouse } from '../../test/house.ts';
import {
  emptyQueue,
  FILM,
  finish,
  generate,
  lapse,
  MESH,
  modelNamed,
  PAGE,
  PICTURE,
  queueMany,
  reserveSubmit,
  storeResult,
  workerOf,
} from '../generation/test/generations.ts';

const claim = async (house: House, most = 100, { worker = 'box:1', wait = 0 } = {}) =>
  (await workerOf(house).claim({ body: { worker, most, wait } })).data.tasks;
const holdsOf = async (claimed: ReturnType<typeof claim>) =>
  (await claimed).map(({ fileId, epoch }) => ({ fileId, epoch }));
const idsOf = (tasks: { fileId: string }[]) => tasks.map(({ fileId }) => fileId);
const leaseOf = ({ deps }: House, id: string) =>
  deps.db
    .selectFrom('generations')
    .select(['epoch', 'engine', 'lease_owner', 'lease_until', 'status'])
    .where('file_id', '=', id)
    .executeTakeFirstOrThrow();

onEachDatabase((house) => {
  beforeEach(() => emptyQueue(house()));
  const renew = async (tasks: { fileId: string; epoch: number }[], worker = 'box:1') =>
    (await workerOf(house()).renew({ body: { worker, tasks } })).data.lost;
  const hello = (worker: string) => workerOf(house()).register({ body: { worker, families: [] } });
  const cancel = (id: string) => house().people.owner.client.files.cancel({ params: { id } });

  test('a claim gives a lease of 30 seconds and the first epoch; the generation stays queued', async () => {
    const id = await generate(house());
    const before = steadyTime(30);
    const { data } = await workerOf(house()).claim({ body: { worker: 'box:1', most: 5, wait: 0 } });
    const { data: task } = await workerOf(house()).getTask({ params: { id }, query: { epoch: 1 } });
    expect(data).toEqual({ tasks: [{ fileId: id, family: 'document', epoch: 1, task }], leaseSeconds: 30 });
    const lease = await leaseOf(house(), id);
    expect(lease).toMatchObject({ epoch: 1, engine: 'embedded', lease_owner: 'box:1', status: 'QUEUED' });
    expect(lease.lease_until ?? '').toMatch(/^\d/);
    expect([before <= (lease.lease_until ?? ''), (lease.lease_until ?? '') <= steadyTime(30)]).toEqual([true, true]);
  });

  test('every claim passes on the trace of the order', async () => {
    const id = await generate(house());
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await house().deps.db.updateTable('generations').set({ traceparent }).where('file_id', '=', id).execute();
    expect(await claim(house())).toMatchObject([{ fileId: id, traceparent }]);
    await lapse(house());
    expect(await claim(house(), 1, { worker: 'box:2' })).toMatchObject([{ fileId: id, epoch: 2, traceparent }]);
  });

  test('a claimed generation cannot be claimed again', async () => {
    await generate(house());
    expect(await claim(house())).toHaveLength(1);
    expect(await claim(house(), 100, { worker: 'box:2' })).toEqual([]);
  });

  test('the oldest generation is claimed first', async () => {
    const ids = [await generate(house()), await generate(house()), await generate(house())];
    const taken = [await claim(house(), 1), await claim(house(), 1), await claim(house(), 1)];
    expect(taken.map(idsOf)).toEqual(ids.map((id) => [id]));
  });

  test('a claim gets at most the requested number', async () => {
    for (let count = 0; count < 3; count++) await generate(house());
    expect(await claim(house(), 2)).toHaveLength(2);
    expect(await claim(house(), 2)).toHaveLength(1);
  });

  test('slots: 4 documents, 4 images, 2 videos, 2 of 3D run at once in a workspace', async () => {
    const models = ['pdf', 'gpt-image-2', 'seedance-2.5', 'meshy-7'].map(modelNamed);
    await queueMany(house(), [...models, ...models, ...models, ...models, ...models, ...models]);
    const families = (await claim(house())).map(({ family }) => family);
    expect(Map.groupBy(families, (family) => family)).toEqual(
      new Map([
        ['document', Array(4).fill('document')],
        ['gpt-image', Array(4).fill('gpt-image')],
        ['seedance', Array(2).fill('seedance')],
        ['meshy', Array(2).fill('meshy')],
      ]),
    );
    expect(await claim(house())).toEqual([]);
  });

  test('a workspace with full slots does not block others', async () => {
    await queueMany(house(), Array(6).fill(modelNamed('veo-3.1-generate-preview')));
    const { workspaceId } = house().people.foreigner;
    const others = await queueMany(house(), Array(3).fill(modelNamed('kling-3.0')), workspaceId);
    const taken = idsOf(await claim(house()));
    expect(taken).toHaveLength(4);
    expect(taken.slice(2)).toEqual(others.slice(0, 2));
  });

  test('ended, canceled and deleted generations release their slot', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 7; count++) ids.push(await generate(house()));
    const [ended, canceled, deleted] = await claim(house());
    expect(await claim(house())).toEqual([]);
    const task = { id: ended?.fileId ?? '', epoch: 1 };
    await storeResult(house(), task);
    await finish(house(), task);
    expect(idsOf(await claim(house()))).toEqual([ids[4]]);
    await cancel(canceled?.fileId ?? '');
    expect(idsOf(await claim(house()))).toEqual([ids[5]]);
    await house().people.owner.client.files.delete({ params: { id: deleted?.fileId ?? '' } });
    expect(idsOf(await claim(house()))).toEqual([ids[6]]);
  });

  test('a generation with an expired lease is claimed under the next epoch before queued ones, even if it runs', async () => {
    const id = await generate(house());
    await generate(house());
    const [task] = await claim(house(), 1);
    await reserveSubmit(house(), { id, epoch: task?.epoch ?? 0 });
    await lapse(house());
    const taken = claim(house(), 1, { worker: 'box:2' });
    expect(await holdsOf(taken)).toEqual([{ fileId: id, epoch: 2 }]);
    expect(await leaseOf(house(), id)).toMatchObject({ lease_owner: 'box:2', status: 'RUNNING' });
  });

  test('a generation with an expired lease still occupies its slot', async () => {
    await queueMany(house(), Array(5).fill(modelNamed('pdf')));
    await claim(house());
    await lapse(house());
    expect(await claim(house())).toHaveLength(4);
  });

  test('an ended generation cannot be claimed, even with an expired lease', async () => {
    const id = await generate(house());
    await claim(house());
    await cancel(id);
    await lapse(house());
    expect(await claim(house())).toEqual([]);
    expect(await leaseOf(house(), id)).toMatchObject({ epoch: 1, lease_owner: null, lease_until: null });
  });

  test('registering expires the old leases of the worker at once, and no others', async () => {
    const mine = await generate(house());
    await claim(house(), 1, { worker: 'box:1' });
    await generate(house());
    await claim(house(), 1, { worker: 'box:2' });
    await hello('box:1');
    expect(await holdsOf(claim(house(), 100, { worker: 'box:1' }))).toEqual([{ fileId: mine, epoch: 2 }]);
  });

  test('a released lease can be claimed at once and cannot be renewed', async () => {
    const [kept, id] = [await generate(house()), await generate(house())];
    await claim(house(), 2);
    const release = (worker: string, epoch: number) =>
      workerOf(house()).release({ params: { id }, body: { worker, epoch } });
    await release('box:2', 1);
    await release('box:1', 2);
    expect(await claim(house(), 2, { worker: 'box:2' })).toEqual([]);
    const waiting = claim(house(), 2, { worker: 'box:2', wait: 20 });
    await release('box:1', 1);
    expect(await renew([kept, id].map((fileId) => ({ fileId, epoch: 1 })))).toEqual([id]);
    expect(await holdsOf(waiting)).toEqual([{ fileId: id, epoch: 2 }]);
  });

  test('renewing extends the leases', async () => {
    const ids = [await generate(house()), await generate(house())];
    const tasks = await claim(house());
    await lapse(house());
    expect(await renew(tasks.map(({ fileId, epoch }) => ({ fileId, epoch })))).toEqual([]);
    for (const id of ids) expect((await leaseOf(house(), id)).lease_until ?? '' > secondsFromNow(25)).toBeTruthy();
    expect(await claim(house(), 100, { worker: 'box:2' })).toEqual([]);
  });

  test('renewing returns the lost tasks: taken over, canceled, ended, deleted, never claimed', async () => {
    const [kept, canceled, deleted, over] = [PAGE, PICTURE, FILM, MESH];
    const ids = [];
    for (const body of [kept, canceled, deleted, over]) ids.push(await generate(house(), body));
    const tasks = (await claim(house())).map(({ fileId, epoch }) => ({ fileId, epoch }));
    await cancel(ids[1] ?? '');
    await house().people.owner.client.files.delete({ params: { id: ids[2] ?? '' } });
    await lapse(house(), ids[3]);
    expect(idsOf(await claim(house(), 1, { worker: 'box:2' }))).toEqual([ids[3]]);
    const other = { fileId: 'FX00000000000000000000', epoch: 1 };
    expect((await renew([...tasks, other])).sort()).toEqual([ids[1], ids[2], ids[3], other.fileId].sort());
    expect(await leaseOf(house(), ids[3] ?? '')).toMatchObject({ lease_owner: 'box:2', epoch: 2 });
  });

  test('renewing an empty list loses nothing', async () => {
    expect(await renew([])).toEqual([]);
  });

  test('a waiting claim is answered at once when a generation is queued', TIMED, async () => {
    const waiting = claim(house(), 1, { wait: 20 });
    for (let round = 0; round < 3; round++) await claim(house(), 1);
    const from = performance.now();
    const id = await generate(house());
    expect(idsOf(await waiting)).toEqual([id]);
    expect(performance.now() - from).toBeLessThan(300);
  });

  test('a waiting claim is answered at once when a slot is released', TIMED, async () => {
    const [first = ''] = await queueMany(house(), Array(5).fill(modelNamed('pdf')));
    await claim(house());
    const waiting = claim(house(), 1, { wait: 20 });
    for (let round = 0; round < 3; round++) await claim(house(), 1);
    const from = performance.now();
    await cancel(first);
    expect(await waiting).toHaveLength(1);
    expect(performance.now() - from).toBeLessThan(300);
  });

  test('a waiting claim returns no tasks after its timeout', async () => {
    const from = performance.now();
    expect(await claim(house(), 1, { wait: 0.3 })).toEqual([]);
    expect(performance.now() - from).toBeGreaterThanOrEqual(290);
    expect(performance.now() - from).toBeLessThan(3000);
  });

  test.each([
    { most: 0, wait: 0 },
    { most: 101, wait: 0 },
    { most: 1, wait: 31 },
    { most: 1, wait: -1 },
  ])('%o is 400', async (body) => {
    await expect(workerOf(house()).claim({ body: { worker: 'box', ...body } })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });
});

test('with the Temporal engine there is nothing to claim', async () => {
  await using house = await openHouse('sqlite', { GENERATION_ENGINE: 'temporal' });
  const id = await generate(house);
  expect(await claim(house)).toEqual([]);
  expect(await leaseOf(house, id)).toMatchObject({ epoch: 0, engine: null });
});
