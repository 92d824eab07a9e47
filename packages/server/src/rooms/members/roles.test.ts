import { PROJECT_ROLES, type ProjectRole } from '@review/contract';
import { expect, test } from 'vitest';
import { type House, json, onEachDatabase, type Person, refusal } from '../../test/house.ts';
import { membershipOf, newcomer, newProject } from '../../test/people.ts';

/** A new project with an owner, a manager and a reviewer. */
async function crew(house: House) {
  const [owner, manager, reviewer] = [await newcomer(house), await newcomer(house), await newcomer(house)];
  const id = await newProject(owner, [
    [manager, 'PROJECT_MANAGER'],
    [reviewer, 'PROJECT_REVIEWER'],
  ]);
  const change = async (by: Person, whom: Person, role: ProjectRole) =>
    by.client.members.update({ params: { id: await membershipOf(whom, id, owner) }, body: { role } });
  const remove = async (by: Person, whom: Person) =>
    by.client.members.remove({ params: { id: await membershipOf(whom, id, owner) } });
  const roles = async (viewer: Person = owner) => {
    const { data } = await viewer.client.members.list({ params: { id } });
    return data.map((member) => member.role);
  };
  return { id, owner, manager, reviewer, change, remove, roles };
}

onEachDatabase((house) => {
  test('a manager can give and remove every role except owner', async () => {
    const { manager, reviewer, change, roles } = await crew(house());
    for (const role of PROJECT_ROLES.slice(1)) {
      expect(await change(manager, reviewer, role)).toBeUndefined();
      expect((await roles())[2]).toBe(role);
    }
  });

  test('a new role applies at once', async () => {
    const { id, owner, reviewer, change } = await crew(house());
    const make = () => reviewer.client.folders.create({ params: { id }, body: { name: 'Mine' } });
    await refusal(make(), 'INSUFFICIENT_ROLE');
    await change(owner, reviewer, 'PROJECT_MEMBER');
    await make();
    await change(owner, reviewer, 'PROJECT_RESTRICTED_REVIEWER');
    await refusal(make(), 'INSUFFICIENT_ROLE');
  });

  test('only an owner can add an owner', async () => {
    const { owner, manager, reviewer, change, roles } = await crew(house());
    for (const whom of [manager, reviewer]) {
      expect((await refusal(change(manager, whom, 'PROJECT_OWNER'), 'INSUFFICIENT_ROLE')).status).toBe(403);
    }
    expect(await roles()).toEqual(['PROJECT_OWNER', 'PROJECT_MANAGER', 'PROJECT_REVIEWER']);
    await change(owner, reviewer, 'PROJECT_OWNER');
    expect(await roles()).toEqual(['PROJECT_OWNER', 'PROJECT_MANAGER', 'PROJECT_OWNER']);
  });

  test('only an owner can change or remove an owner', async () => {
    const { owner, manager, reviewer, change, remove, roles } = await crew(house());
    await change(owner, reviewer, 'PROJECT_OWNER');
    await refusal(change(manager, reviewer, 'PROJECT_MEMBER'), 'INSUFFICIENT_ROLE');
    await refusal(change(manager, reviewer, 'PROJECT_OWNER'), 'INSUFFICIENT_ROLE');
    await refusal(remove(manager, reviewer), 'INSUFFICIENT_ROLE');
    expect(await roles()).toEqual(['PROJECT_OWNER', 'PROJECT_MANAGER', 'PROJECT_OWNER']);
    await change(owner, reviewer, 'PROJECT_MEMBER');
    expect((await roles())[2]).toBe('PROJECT_MEMBER');
  });

  test('the last owner cannot be demoted or removed', async () => {
    const { owner, reviewer, change, remove, roles } = await crew(house());
    expect((await refusal(change(owner, owner, 'PROJECT_MANAGER'), 'LAST_OWNER')).status).toBe(409);
    expect((await refusal(remove(owner, owner), 'LAST_OWNER')).status).toBe(409);
    await change(owner, owner, 'PROJECT_OWNER');
    await change(owner, reviewer, 'PROJECT_OWNER');
    await change(owner, owner, 'PROJECT_MEMBER');
    expect(await roles()).toEqual(['PROJECT_MEMBER', 'PROJECT_MANAGER', 'PROJECT_OWNER']);
    await refusal(change(reviewer, reviewer, 'PROJECT_MEMBER'), 'LAST_OWNER');
  });

  test('a manager can remove others while there is one owner', async () => {
    const { manager, reviewer, remove, roles } = await crew(house());
    await remove(manager, reviewer);
    expect(await roles()).toEqual(['PROJECT_OWNER', 'PROJECT_MANAGER']);
  });

  test('a removed member loses access to the project at once, and can be added again', async () => {
    const { id, owner, reviewer, remove } = await crew(house());
    const folder = (await owner.client.folders.create({ params: { id }, body: { name: 'Inside' } })).data;
    const own = await membershipOf(reviewer, id);
    expect((await reviewer.client.projects.get({ params: { id } })).data.role).toBe('PROJECT_REVIEWER');
    await remove(owner, reviewer);
    const { client } = reviewer;
    const calls: (() => Promise<unknown>)[] = [
      () => client.projects.get({ params: { id } }),
      () => client.folders.list({ params: { id } }),
      () => client.members.list({ params: { id } }),
      () => client.folders.update({ params: folder, body: { name: 'Still here' } }),
      () => client.members.remove({ params: { id: own } }),
    ];
    for (const call of calls) expect((await refusal(call(), 'NOT_FOUND')).status).toBe(404);
    expect((await client.projects.list({ body: {} })).data).toEqual([]);
    await refusal(owner.client.members.remove({ params: { id: own } }), 'NOT_FOUND');
    const members = [{ user: { id: reviewer.userId }, role: 'PROJECT_MEMBER' as const }];
    const again = await owner.client.members.add({ params: { id }, body: { members } });
    expect(again.data[0]?.id).not.toBe(own);
    expect((await client.projects.get({ params: { id } })).data.role).toBe('PROJECT_MEMBER');
  });

  test('two owners who demote or remove each other concurrently leave one', async () => {
    for (let round = 0; round < 6; round++) {
      const { id, owner, reviewer, change } = await crew(house());
      await change(owner, reviewer, 'PROJECT_OWNER');
      const [first, second] = [await membershipOf(owner, id), await membershipOf(reviewer, id)];
      const against = (by: Person, membership: string) =>
        round % 2 === 0
          ? by.client.members.update({ params: { id: membership }, body: { role: 'PROJECT_MEMBER' } })
          : by.client.members.remove({ params: { id: membership } });
      const calls = await Promise.allSettled([against(owner, second), against(reviewer, first)]);
      expect(calls.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const rows = await house()
        .deps.db.selectFrom('project_members')
        .select('user_id')
        .where('project_id', '=', id)
        .where('role', '=', 'PROJECT_OWNER')
        .execute();
      expect(rows).toHaveLength(1);
    }
  });

  test.each([
    [{}, '/role'],
    [{ role: 'OWNER' }, '/role'],
    [{ role: null }, '/role'],
    [{ role: 'PROJECT_MEMBER', user: { id: 'x' } }, '/user'],
  ])('the change %j is 400', async (body, pointer) => {
    const { people, projectId, request } = house();
    const id = await membershipOf(people.reviewer, projectId);
    const response = await request('owner', 'PATCH', `/api/project-members/${id}`, json(body));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ pointer }] });
  });
});
