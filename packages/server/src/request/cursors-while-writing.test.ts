import fc from 'fast-check';
import { expect, test } from 'vitest';
import { onEachDatabase } from '../test/house.ts';
import { insertProjects, listing, walk } from '../test/paging.ts';
import { newcomer } from '../test/people.ts';

const RUNS = 8;
/** Few names, so that many items have the same one. */
const name = fc.constantFrom('a', 'b', 'c');
/** Concurrent changes between two pages: added projects, and positions of deleted ones. */
const meanwhile = fc.record({
  added: fc.array(name, { maxLength: 6 }),
  deleted: fc.array(fc.nat(), { maxLength: 6 }),
});
const scenario = fc.record({
  names: fc.array(name, { minLength: 120, maxLength: 170 }),
  direction: fc.constantFrom('asc', 'desc'),
  turns: fc.array(meanwhile, { minLength: 8, maxLength: 8 }),
});

onEachDatabase((house) => {
  test('a walk to the end and back repeats nothing and skips no item that exists throughout, despite concurrent writes', async () => {
    const property = fc.asyncProperty(scenario, async ({ names, direction, turns }) => {
      const { db } = house().deps;
      const person = await newcomer(house());
      const initial = await insertProjects(house(), person, names);
      const present = [...initial];
      const throughout = new Set(initial);
      const remaining = [...turns];

      const disturb = async () => {
        const turn = remaining.shift();
        if (turn === undefined) return;
        present.push(...(await insertProjects(house(), person, turn.added)));
        const gone = turn.deleted.flatMap((place) => present.splice(place % present.length, 1));
        for (const id of gone) throughout.delete(id);
        if (gone.length > 0) await db.deleteFrom('projects').where('id', 'in', gone).execute();
      };
      const ask = async (body: object) => {
        const page = await listing(person, body);
        await disturb();
        return page;
      };
      const sort = { type: 'name', direction };

      const forward = await walk(ask, { sort });
      const there = forward.flatMap(({ data }) => data.map(({ id }) => id));
      expect(new Set(there).size).toBe(there.length);
      expect([...throughout].filter((id) => !there.includes(id))).toEqual([]);

      const last = forward.at(-1);
      const back = await walk(ask, { sort, prev: last?.page.prev }, 'prev');
      const pages = [...back.toReversed(), ...(last ? [last] : [])];
      const again = pages.flatMap(({ data }) => data.map(({ id }) => id));
      expect(new Set(again).size).toBe(again.length);
      expect([...throughout].filter((id) => !again.includes(id))).toEqual([]);
    });
    await fc.assert(property, { numRuns: RUNS });
  });
});
