import { expect, test } from 'vitest';
import { onEachDatabase, type Person, refusal } from '../../test/house.ts';
import { membershipOf, newcomer, newProject } from '../../test/people.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

const timeOf = (recordTime: string | null | undefined) => Date.parse(`${recordTime?.slice(0, 23).replace(' ', 'T')}Z`);
const read = async (person: Person, id: string) => (await person.client.projects.get({ params: { id } })).data;

onEachDatabase((house) => {
  test('deleting schedules the deletion in seven days and changes nothing else', async () => {
    const owner = await newcomer(house());
    const id = await newProject(owner);
    const before = await read(owner, id);
    const from = Date.now();
    expect(await owner.client.projects.delete({ params: { id } })).toBeUndefined();
    const until = Date.now();
    const after = await read(owner, id);
    expect(after).toEqual({ ...before, deletesAt: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/) });
    expect(timeOf(after.deletesAt)).toBeGreaterThanOrEqual(from + 7 * DAY_MS);
    expect(timeOf(after.deletesAt)).toBeLessThanOrEqual(until + 7 * DAY_MS);
  });

  test('a project that is being deleted can be read by all operations', async () => {
    const [owner, reviewer] = [await newcomer(house()), await newcomer(house())];
    const id = await newProject(owner, [[reviewer, 'PROJECT_REVIEWER']]);
    await owner.client.folders.create({ params: { id }, body: { name: 'Kept' } });
    await owner.client.projects.delete({ params: { id } });
    expect((await reviewer.client.folders.list({ params: { id } })).data).toHaveLength(1);
    expect((await reviewer.client.members.list({ params: { id } })).data).toHaveLength(2);
    const { data } = await reviewer.client.projects.list({ body: {} });
    expect(data).toEqual([await read(reviewer, id)]);
  });

  test('a project that is being deleted refuses every change until the deletion is canceled', async () => {
    const [owner, reviewer, other] = [await newcomer(house()), await newcomer(house()), await newcomer(house())];
    const id = await newProject(owner, [[reviewer, 'PROJECT_REVIEWER']]);
    const { client } = owner;
    const folder = (await client.folders.create({ params: { id }, body: { name: 'Folder' } })).data;
    const membership = await membershipOf(reviewer, id);
    const changes: (() => Promise<unknown>)[] = [
      () => client.projects.update({ params: { id }, body: { name: 'Renamed' } }),
      () => client.folders.create({ params: { id }, body: { name: 'Another' } }),
      () => client.folders.update({ params: folder, body: { name: 'Renamed' } }),
      () => client.folders.delete({ params: folder }),
      () =>
        client.members.add({
          params: { id },
          body: { members: [{ user: { id: other.userId }, role: 'PROJECT_MEMBER' }] },
        }),
      () => client.members.update({ params: { id: membership }, body: { role: 'PROJECT_MEMBER' } }),
      () => client.members.remove({ params: { id: membership } }),
      () => client.projects.delete({ params: { id } }),
    ];
    await client.projects.delete({ params: { id } });
    const scheduled = await read(owner, id);
    for (const change of changes) expect((await refusal(change(), 'PROJECT_DELETING')).status).toBe(409);
    expect(await read(owner, id)).toEqual(scheduled);
    expect((await client.folders.list({ params: { id } })).data).toMatchObject([{ name: 'Folder' }]);
    expect((await client.members.list({ params: { id } })).data).toHaveLength(2);

    expect(await client.projects.cancelDelete({ params: { id } })).toBeUndefined();
    expect(await read(owner, id)).toMatchObject({ name: 'A project', deletesAt: null });
    for (const change of changes) await change();
    expect(await read(owner, id)).toMatchObject({ name: 'Renamed', deletesAt: expect.any(String) });
  });

  test('only an owner can delete a project or cancel its deletion', async () => {
    const { people } = house();
    const id = await newProject(people.owner, [
      [people.manager, 'PROJECT_MANAGER'],
      [people.member, 'PROJECT_MEMBER'],
    ]);
    for (const { client } of [people.manager, people.member]) {
      expect((await refusal(client.projects.delete({ params: { id } }), 'INSUFFICIENT_ROLE')).status).toBe(403);
    }
    await people.owner.client.projects.delete({ params: { id } });
    for (const { client } of [people.manager, people.member]) {
      await refusal(client.projects.cancelDelete({ params: { id } }), 'INSUFFICIENT_ROLE');
      await refusal(client.projects.delete({ params: { id } }), 'INSUFFICIENT_ROLE');
    }
    await refusal(people.stranger.client.projects.cancelDelete({ params: { id } }), 'NOT_FOUND');
    expect((await read(people.owner, id)).deletesAt).not.toBeNull();
  });

  test('canceling a deletion that is not scheduled changes nothing', async () => {
    const owner = await newcomer(house());
    const id = await newProject(owner);
    const before = await read(owner, id);
    await owner.client.projects.cancelDelete({ params: { id } });
    expect(await read(owner, id)).toEqual(before);
  });
});
