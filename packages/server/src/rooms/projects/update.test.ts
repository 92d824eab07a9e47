import { expect, test } from 'vitest';
import { type House, json, onEachDatabase } from '../../test/house.ts';

const FIELDS = { name: 'Draft', description: 'Before.', deadline: '2027-01-31' };

async function draft(house: House) {
  const { client } = house.people.owner;
  const { id } = (await client.projects.create({ body: FIELDS })).data;
  const read = async () => (await client.projects.get({ params: { id } })).data;
  return { client, id, read, before: await read() };
}

onEachDatabase((house) => {
  test.each([
    { name: 'Final' },
    { description: 'After.' },
    { deadline: '2028-02-29' },
    { description: null },
    { deadline: null },
    { description: '' },
    { name: 'Final', description: null, deadline: '2027-12-31' },
  ])('an update with %j changes only these fields', async (body) => {
    const { client, id, read, before } = await draft(house());
    expect(await client.projects.update({ params: { id }, body })).toBeUndefined();
    const after = await read();
    expect(after).toEqual({ ...before, ...body, updatedAt: after.updatedAt });
  });

  test('an update changes updatedAt and not createdAt', async () => {
    const { client, id, read, before } = await draft(house());
    await client.projects.update({ params: { id }, body: { name: 'Second' } });
    const second = await read();
    await client.projects.update({ params: { id }, body: { name: 'Third' } });
    const third = await read();
    expect(before.createdAt).toBe(third.createdAt);
    expect([third.updatedAt, second.updatedAt, before.updatedAt].sort()).toEqual([
      before.updatedAt,
      second.updatedAt,
      third.updatedAt,
    ]);
    expect(new Set([before.updatedAt, second.updatedAt, third.updatedAt]).size).toBe(3);
  });

  test('an empty update changes no field', async () => {
    const { client, id, read, before } = await draft(house());
    await client.projects.update({ params: { id }, body: {} });
    const after = await read();
    expect(after).toEqual({ ...before, updatedAt: after.updatedAt });
  });

  test('a project is found by its new name and description, not by its old ones', async () => {
    const { client, id } = await draft(house());
    await client.projects.update({ params: { id }, body: { name: 'Zanzibar', description: 'Quokka' } });
    const found = async (keyword: string) =>
      (await client.projects.list({ body: { keyword } })).data.some((project) => project.id === id);
    expect(await Promise.all(['zanzibar', 'quokka', 'draft', 'before'].map(found))).toEqual([true, true, false, false]);
  });

  test('concurrent updates of different fields are both kept', async () => {
    const { client, id, read } = await draft(house());
    for (let round = 0; round < 8; round++) {
      const [name, description, deadline] = [`Name ${round}`, `Description ${round}`, `2027-01-1${round}`];
      await Promise.all([
        client.projects.update({ params: { id }, body: { name } }),
        client.projects.update({ params: { id }, body: { description } }),
        client.projects.update({ params: { id }, body: { deadline } }),
      ]);
      expect(await read()).toMatchObject({ name, description, deadline });
    }
    const { data } = await client.projects.list({ body: { keyword: 'description 7' } });
    expect(data.map((project) => project.id)).toEqual([id]);
  });

  test.each([
    ['an empty name', { name: '' }, '/name'],
    ['no name', { name: null }, '/name'],
    ['too long a name', { name: 'a'.repeat(101) }, '/name'],
    ['too long a description', { description: 'a'.repeat(5001) }, '/description'],
    ['a day that no calendar has', { deadline: '2027-02-30' }, '/deadline'],
    ['a role', { role: 'PROJECT_MEMBER' }, '/role'],
    ['members', { members: [] }, '/members'],
  ])('an update with %s is refused with 400 and changes nothing', async (_, body, pointer) => {
    const { id, read, before } = await draft(house());
    const response = await house().request('owner', 'PATCH', `/api/projects/${id}`, json(body));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ pointer }] });
    expect(await read()).toEqual(before);
  });

  test('an id that is malformed, unknown or of another kind is 404', async () => {
    const { people, request } = house();
    for (const id of ['nonsense', '0195c2de-1234-7abc-8def-0123456789ab', people.owner.userId, '%00', 'DX']) {
      expect((await request('owner', 'GET', `/api/projects/${id}`)).status).toBe(404);
    }
  });

  test('the id of a project is accepted in any letter case', async () => {
    const { client, id } = await draft(house());
    expect((await client.projects.get({ params: { id: id.toUpperCase() } })).data.id).toBe(id);
  });

  test('the record of a project has the role of the caller', async () => {
    const { people, projectId } = house();
    const roles = [];
    for (const person of [people.owner, people.manager, people.member, people.reviewer, people.restricted]) {
      roles.push((await person.client.projects.get({ params: { id: projectId } })).data.role);
    }
    expect(roles).toEqual([
      'PROJECT_OWNER',
      'PROJECT_MANAGER',
      'PROJECT_MEMBER',
      'PROJECT_REVIEWER',
      'PROJECT_RESTRICTED_REVIEWER',
    ]);
  });
});
