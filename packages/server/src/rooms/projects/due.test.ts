import { expect, test, vi } from 'vitest';
import { now, secondsFromNow } from '../../db/time.ts';
import { startSweeper, sweep } from '../../sweeper.ts';
import { type House, onEachDatabase, type Person, refusal } from '../../test/house.ts';
import { newcomer, newProject } from '../../test/people.ts';
import { setDeletion } from './queries.ts';

const rows = async ({ deps }: House, table: 'folders' | 'project_members', projectId: string) =>
  (await deps.db.selectFrom(table).select('id').where('project_id', '=', projectId).execute()).length;

const exists = async ({ deps }: House, id: string) =>
  (await deps.db.selectFrom('projects').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;

/** A new project with nested folders, whose deletion is due in that many seconds. */
async function endingIn(house: House, owner: Person, seconds: number): Promise<string> {
  const id = await newProject(owner);
  const outer = await owner.client.folders.create({ params: { id }, body: { name: 'Outer' } });
  await owner.client.folders.create({ params: { id }, body: { name: 'Inner', parent: outer.data } });
  await owner.client.projects.delete({ params: { id } });
  await house.deps.db.transaction().execute((trx) => setDeletion(trx, id, secondsFromNow(seconds)));
  return id;
}

onEachDatabase((house) => {
  test('a project whose deletion is due is deleted with its content', async () => {
    const owner = await newcomer(house());
    const id = await endingIn(house(), owner, -1);
    await sweep(house().deps);
    await refusal(owner.client.projects.get({ params: { id } }), 'NOT_FOUND');
    expect((await owner.client.projects.list({ body: {} })).data).toEqual([]);
    expect([await rows(house(), 'folders', id), await rows(house(), 'project_members', id)]).toEqual([0, 0]);
  });

  test('a project whose deletion is not due, or was canceled, stays', async () => {
    const owner = await newcomer(house());
    const soon = await endingIn(house(), owner, 60);
    const undone = await endingIn(house(), owner, -1);
    await owner.client.projects.cancelDelete({ params: { id: undone } });
    const plain = await newProject(owner);
    await sweep(house().deps);
    const { data } = await owner.client.projects.list({ body: { sort: { type: 'createdAt', direction: 'asc' } } });
    expect(data.map(({ id }) => id)).toEqual([soon, undone, plain]);
    expect(await rows(house(), 'folders', soon)).toBe(2);
  });

  test('a clock that was ahead and is set right deletes no project early', async () => {
    const owner = await newcomer(house());
    const id = await endingIn(house(), owner, 60);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 });
    now();
    vi.useRealTimers();
    await sweep(house().deps);
    expect(await exists(house(), id)).toBe(true);
  });

  test('the sweeper runs as soon as it starts', async () => {
    const owner = await newcomer(house());
    const id = await endingIn(house(), owner, -1);
    using _sweeper = startSweeper(house().deps);
    await expect.poll(() => exists(house(), id)).toBe(false);
  });
});
