import { items, pages } from '@review/client';
import { expect, test } from 'vitest';
import { onEachDatabase } from './test/house.ts';
import { newcomer, newProject } from './test/people.ts';

const COUNT = 120;
const said = Array.from({ length: COUNT }, (_, index) => `Comment ${index + 1}`);

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of source) found.push(item);
  return found;
}

/** The iterators of the typed client over real lists of both styles. */
onEachDatabase((house) => {
  async function talk() {
    const caller = await newcomer(house());
    const params = { id: await newProject(caller) };
    for (const content of said) await caller.client.comments.create({ params, body: { content } });
    return { caller, params };
  }

  test('comments come in the requested order, each once', async () => {
    const { caller, params } = await talk();
    const { list } = caller.client.comments;
    const contents = async (body: { sort?: { direction: 'asc' | 'desc' } }) =>
      (await all(items(list, { params, body }))).map(({ content }) => content);
    expect(await contents({})).toEqual(said);
    expect(await contents({ sort: { direction: 'asc' } })).toEqual(said);
    expect(await contents({ sort: { direction: 'desc' } })).toEqual(said.toReversed());

    const sizes = (await all(pages(list, { params }))).map(({ data }) => data.at(-1)?.content);
    expect(sizes).toEqual(['Comment 120', 'Comment 70', 'Comment 20']);

    const first = await list({ params });
    const older = items(list, { params, body: { prev: first.page.prev ?? '' } });
    expect((await all(older)).map(({ content }) => content)).toEqual(said.slice(0, 70));
  });

  test('a list is fetched only as far as it is iterated', async () => {
    const caller = await newcomer(house());
    for (let number = 0; number < 51; number++) await newProject(caller, [], `Project ${number}`);
    let calls = 0;
    const list: typeof caller.client.projects.list = (...request) => {
      calls += 1;
      return caller.client.projects.list(...request);
    };
    for await (const project of items(list, { body: { sort: { type: 'name', direction: 'asc' } } })) {
      expect(project.name).toBe('Project 0');
      break;
    }
    expect(calls).toBe(1);
    expect(await all(items(list, {}))).toHaveLength(51);
    expect(calls).toBe(3);
  });

  test('versions, which have page numbers, are iterated the same way', async () => {
    const caller = await newcomer(house());
    const params = { id: await newProject(caller) };
    const names = Array.from({ length: 51 }, (_, index) => `v${String(index).padStart(2, '0')}`);
    for (const name of names) await caller.client.versions.create({ params, body: { name } });
    const query = { 'sort.type': 'name', 'sort.direction': 'asc' } as const;
    const found = await all(items(caller.client.versions.list, { params, query }));
    expect(found.map(({ name }) => name)).toEqual(names);
    const numbers = await all(pages(caller.client.versions.list, { params, query: { page: 2 } }));
    expect(numbers.map(({ page }) => page.current)).toEqual([2]);
  });

  test('an empty list has no items and one page', async () => {
    const caller = await newcomer(house());
    const request = { params: { id: await newProject(caller) } };
    expect(await all(items(caller.client.comments.list, request))).toEqual([]);
    expect(await all(pages(caller.client.comments.list, request))).toHaveLength(1);
  });
});
