import { describe, expect, test } from 'vitest';
import { json, onEachDatabase, type Person } from '../test/house.ts';
import { insertProjects, listing, walk } from '../test/paging.ts';
import { newcomer } from '../test/people.ts';
import { problemIn } from '../test/problem-in.ts';

onEachDatabase((house) => {
  const query = (person: Person, body: unknown) =>
    house().request(null, 'QUERY', '/api/projects', json(body, { authorization: `Bearer ${person.key}` }));

  /** A person with that many projects, all of the same name and time. */
  async function ownerOf(count: number, name = 'Same'): Promise<Person & { ids: string[] }> {
    const person = await newcomer(house());
    const ids = await insertProjects(house(), person, Array(count).fill(name));
    return { ...person, ids };
  }

  test.each([
    [0, [0]],
    [1, [1]],
    [49, [49]],
    [50, [50]],
    [51, [50, 1]],
    [100, [50, 50]],
    [101, [50, 50, 1]],
  ])('%i items are pages of %j', async (count, sizes) => {
    const person = await ownerOf(count);
    const pages = await walk((body) => listing(person, body), { sort: { type: 'name', direction: 'asc' } });
    expect(pages.map(({ data }) => data.length)).toEqual(sizes);
    expect(pages[0]?.page.prev).toBeNull();
    expect(pages.at(-1)?.page.next).toBeNull();
  });

  describe.each(['name', 'createdAt', 'updatedAt'] as const)('by %s, with equal keys', (type) => {
    test.each(['asc', 'desc'] as const)('%s: forward and back, no item repeated or skipped', async (direction) => {
      const person = await ownerOf(123);
      const sort = { type, direction };
      const forward = await walk((body) => listing(person, body), { sort });
      const ids = forward.flatMap(({ data }) => data.map(({ id }) => id));
      const expected = person.ids.toSorted();
      expect(ids).toEqual(direction === 'asc' ? expected : expected.toReversed());

      const back = await walk((body) => listing(person, body), { sort, prev: forward.at(-1)?.page.prev }, 'prev');
      expect(back.map(({ data }) => data.length)).toEqual([50, 50]);
      const before = back.toReversed().flatMap(({ data }) => data.map(({ id }) => id));
      expect(before).toEqual(ids.slice(0, 100));
    });
  });

  test('prev of the second page is the first page', async () => {
    const person = await ownerOf(60);
    const first = await listing(person, {});
    const second = await listing(person, { next: first.page.next });
    const again = await listing(person, { prev: second.page.prev });
    expect(again.data).toEqual(first.data);
    expect(again.page.prev).toBeNull();
    expect((await listing(person, { next: again.page.next })).data).toEqual(second.data);
  });

  test('if all items beyond the cursor are deleted, the page is empty and prev still works', async () => {
    const person = await ownerOf(51);
    const sort = { type: 'name', direction: 'asc' } as const;
    const first = await listing(person, { sort });
    const last = person.ids.toSorted().at(-1) ?? '';
    await house().deps.db.deleteFrom('projects').where('id', '=', last).execute();
    const empty = await listing(person, { sort, next: first.page.next });
    expect([empty.data, empty.page.next]).toEqual([[], null]);
    expect((await listing(person, { sort, prev: empty.page.prev })).data).toEqual(first.data);
  });

  describe('a cursor', () => {
    const cursorOf = async (person: Person, body = {}): Promise<string> => {
      const { page } = await listing(person, body);
      if (page.next === null) throw new Error('there is only one page');
      return page.next;
    };

    test('with any one character changed, left out or added is 400', async () => {
      const person = await ownerOf(51);
      const cursor = await cursorOf(person);
      const changed = new Set<string>();
      for (let place = 0; place < cursor.length; place++) {
        const [before, here, after] = [cursor.slice(0, place), cursor[place] ?? '', cursor.slice(place + 1)];
        const letter = here === 'A' ? 'B' : 'A';
        // The last character of base64 has unused bits: another character may decode to the same bytes.
        const neighbour = String.fromCharCode(here.charCodeAt(0) + 1);
        for (const other of [letter, neighbour, '']) changed.add(before + other + after);
      }
      for (const end of ['=', 'A', '+', ' ']) changed.add(cursor + end);
      changed.delete(cursor);
      expect(changed.size).toBeGreaterThan(cursor.length * 2);
      const wrong: string[] = [];
      const all = [...changed].filter((next) => next !== '');
      while (all.length > 0) {
        await Promise.all(
          all.splice(0, 50).map(async (next) => {
            const answer = await query(person, { next });
            const { code } = (await answer.json()) as { code?: string };
            if (answer.status !== 400 || code !== 'INVALID_CURSOR') wrong.push(`${next}: ${answer.status} ${code}`);
          }),
        );
      }
      expect(wrong).toEqual([]);
      expect((await query(person, { next: cursor })).status).toBe(200);
    });

    test.each([
      'nonsense',
      'a',
      '!',
      ' ',
      'ü',
      Buffer.from('["next","","",false]').toString('base64url'),
      Buffer.alloc(64).toString('base64url'),
      'A'.repeat(4096),
    ])('that this service did not issue is 400: %s', async (next) => {
      const problem = await problemIn(await query(house().people.owner, { next }), 'INVALID_CURSOR');
      expect(problem.errors).toMatchObject([{ pointer: '/next', code: 'INVALID_CURSOR' }]);
    });

    test('with other filters, another order or the other way is 400', async () => {
      const person = await ownerOf(60);
      const next = await cursorOf(person, { keyword: 'Same' });
      expect((await query(person, { keyword: 'Same', next })).status).toBe(200);
      const explicit = { keyword: 'Same', sort: { type: 'updatedAt', direction: 'desc' }, next };
      expect((await query(person, explicit)).status).toBe(200);
      for (const other of [
        { next },
        { keyword: 'same', next },
        { keyword: 'Same', sort: { direction: 'asc' }, next },
        { keyword: 'Same', sort: { type: 'name' }, next },
        { keyword: 'Same', prev: next },
      ]) {
        await problemIn(await query(person, other), 'INVALID_CURSOR');
      }
    });

    test('for next is not accepted as prev, and vice versa', async () => {
      const person = await ownerOf(60);
      const next = await cursorOf(person);
      const { page } = await listing(person, { next });
      await problemIn(await query(person, { prev: next }), 'INVALID_CURSOR');
      await problemIn(await query(person, { next: page.prev }), 'INVALID_CURSOR');
    });

    test('must be alone: next and prev together are 400', async () => {
      const person = await ownerOf(60);
      const next = await cursorOf(person);
      const { page } = await listing(person, { next });
      const problem = await problemIn(await query(person, { next, prev: page.prev }), 'INVALID_REQUEST');
      expect(problem.errors).toMatchObject([{ pointer: '/prev', code: 'BOTH_CURSORS' }]);
    });

    test.each([null, 7, '', {}, 'A'.repeat(4097)])('%j is 400', async (next) => {
      await problemIn(await query(house().people.owner, { next }), 'INVALID_REQUEST');
    });

    test('of another person shows none of their items', async () => {
      const [one, other] = [await ownerOf(60), await ownerOf(60)];
      const page = await listing(other, { next: await cursorOf(one) });
      expect(page.data.filter(({ id }) => !other.ids.includes(id))).toEqual([]);
    });

    test('is not an offset: an item added before it does not shift the page', async () => {
      const person = await ownerOf(60, 'M');
      const sort = { type: 'name', direction: 'asc' } as const;
      const first = await listing(person, { sort });
      await insertProjects(house(), person, ['A', 'A', 'A']);
      const second = await listing(person, { sort, next: first.page.next });
      expect(second.data.map(({ id }) => id)).toEqual(person.ids.toSorted().slice(50));
    });
  });
});
