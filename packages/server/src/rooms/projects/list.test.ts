import { expect, test } from 'vitest';
import { newUuid } from '../../db/ids.ts';
import { type House, json, onEachDatabase, type Person } from '../../test/house.ts';
import { newcomer, newProject } from '../../test/people.ts';
import { insertMembers } from '../members/queries.ts';
import { insertProject } from './queries.ts';

const SORTS = ['name', 'createdAt', 'updatedAt'] as const;
const DIRECTIONS = ['asc', 'desc'] as const;
const ALL_WAYS = SORTS.flatMap((type) => DIRECTIONS.map((direction) => ({ type, direction })));

/** In the order of their folded bytes, which differs from UTF-16 order and from any locale. */
const NASTY = [
  ' leading space',
  '!bang',
  '%percent',
  '10',
  '9',
  '\\slash',
  '_under',
  'Apple',
  'apple pie',
  'ZEBRA',
  'zoo',
  'Äpfel',
  'e\u0301clair',
  '\u00c9cole',
  'ΑΒΓ',
  '中文',
  '\uff5etilde',
  '\u{1F600} smile',
];

/** Inserts more than two pages of projects for a new person, with many equal times and names. */
async function manyProjects({ deps, workspaceId }: House, person: Person) {
  const made = Array.from({ length: 120 }, (_, index) => ({
    id: newUuid(),
    name: `Take ${index % 7}`,
    createdAt: `2026-01-0${1 + (index % 3)} 00:00:00.000000`,
  }));
  await deps.db.transaction().execute(async (trx) => {
    for (const { id, name, createdAt } of made) {
      await insertProject(trx, { id, workspace_id: workspaceId, name, created_at: createdAt });
      await insertMembers(trx, [
        { id: newUuid(), project_id: id, user_id: person.userId, role: 'PROJECT_OWNER', created_at: createdAt },
      ]);
    }
  });
  return made.map((project) => ({ ...project, updatedAt: project.createdAt }));
}

const shuffled = <Item>(items: Item[]): Item[] =>
  items
    .map((item, index) => ({ item, key: (index * 7919) % 31 }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);

onEachDatabase((house) => {
  test('the list has the projects of the caller, with the same records as get', async () => {
    const { people } = house();
    const [caller, other] = [await newcomer(house()), await newcomer(house())];
    const own = await newProject(caller);
    const shared = await newProject(other, [[caller, 'PROJECT_REVIEWER']]);
    await newProject(other);
    const { data, page } = await caller.client.projects.list({ body: {} });
    expect(data.map(({ id, role }) => [id, role])).toEqual([
      [shared, 'PROJECT_REVIEWER'],
      [own, 'PROJECT_OWNER'],
    ]);
    expect(page).toEqual({ next: null, prev: null });
    expect(data[0]).toEqual((await caller.client.projects.get({ params: { id: shared } })).data);
    expect((await people.stranger.client.projects.list({ body: {} })).data).toEqual([]);
  });

  test('a person of two workspaces sees in each only its own projects', async () => {
    const { people } = house();
    const here = await newcomer(house());
    const there = await newcomer(house(), { email: here.email, workspaceId: people.foreigner.workspaceId });
    expect(there.userId).toBe(here.userId);
    const id = await newProject(here);
    expect((await there.client.projects.list({ body: {} })).data).toEqual([]);
    expect((await here.client.projects.list({ body: {} })).data.map((project) => project.id)).toEqual([id]);
  });

  test('the default order is by the last change, newest first', async () => {
    const caller = await newcomer(house());
    const ids = [await newProject(caller), await newProject(caller), await newProject(caller)];
    await caller.client.projects.update({ params: { id: ids[0] ?? '' }, body: { name: 'Changed' } });
    const { data } = await caller.client.projects.list({ body: {} });
    expect(data.map(({ id }) => id)).toEqual([ids[0], ids[2], ids[1]]);
    for (const sort of [{}, { type: 'updatedAt' }, { direction: 'desc' }] as const) {
      expect((await caller.client.projects.list({ body: { sort } })).data).toEqual(data);
    }
  });

  test('projects sort by name in the same order on every database', async () => {
    const caller = await newcomer(house());
    for (const name of shuffled(NASTY)) await newProject(caller, [], name);
    const names = async (direction: 'asc' | 'desc') =>
      (await caller.client.projects.list({ body: { sort: { type: 'name', direction } } })).data.map(({ name }) => name);
    expect(await names('asc')).toEqual(NASTY);
    expect(await names('desc')).toEqual(NASTY.toReversed());
  });

  test('names that differ only in case are ordered by id', async () => {
    const caller = await newcomer(house());
    const ids = [];
    for (const name of ['film', 'FILM', 'Film', 'fIlM']) ids.push(await newProject(caller, [], name));
    const { data } = await caller.client.projects.list({ body: { sort: { type: 'name', direction: 'asc' } } });
    expect(data.map(({ id }) => id)).toEqual(ids.toSorted());
  });

  test.each(ALL_WAYS)('pages of $type $direction return everything once, in order, forward and back', async (sort) => {
    const caller = await newcomer(house());
    const made = await manyProjects(house(), caller);
    const key = (project: (typeof made)[number]) => `${project[sort.type]}|${project.id}`;
    const expected = made.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)).map(({ id }) => id);
    if (sort.direction === 'desc') expected.reverse();

    const list = (cursor: { next: string } | { prev: string } | object) =>
      caller.client.projects.list({ body: { sort, ...cursor } });
    const pages = [await list({})];
    for (let page = pages[0]?.page; page?.next; page = pages.at(-1)?.page) pages.push(await list({ next: page.next }));
    expect(pages.map(({ data }) => data.length)).toEqual([50, 50, 20]);
    expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toEqual(expected);

    const back = [];
    for (let page = pages.at(-1)?.page; page?.prev; page = back.at(-1)?.page)
      back.push(await list({ prev: page.prev }));
    expect(back.map(({ data }) => data)).toEqual([pages[1]?.data, pages[0]?.data]);
  });

  test.each([
    [{ sort: { type: 'size' } }, '/sort/type'],
    [{ sort: { direction: 'up' } }, '/sort/direction'],
    [{ sort: 'name' }, '/sort'],
    [{ 'sort.type': 'name' }, '/sort.type'],
    [{ page: 2 }, '/page'],
    [{ next: 'a', prev: 'b' }, '/prev'],
  ])('the list refuses %j with 400', async (body, pointer) => {
    const response = await house().request('owner', 'QUERY', '/api/projects', json(body));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ pointer }] });
  });
});
