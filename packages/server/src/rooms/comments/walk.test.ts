import fc from 'fast-check';
import { expect, test } from 'vitest';
import { big } from '../../../../../scripts/testing.ts';
import { onEachDatabase } from '../../test/house.ts';
import { timeOf } from './test/talk.ts';
import { type Asked, idsOf, KINDS, newList, type Page, walk } from './test/walk.ts';

/** Concurrent changes while a page is fetched. */
const Meanwhile = fc.record({
  /** The times of new comments: before, among and after the existing ones. */
  inserted: fc.array(fc.integer({ min: 0, max: 999 }), { maxLength: 4 }),
  /** Which of the existing comments are deleted. */
  deleted: fc.array(fc.nat(200), { maxLength: 3 }),
});

const Walk = fc.record({
  kind: fc.constantFrom(...KINDS),
  direction: fc.constantFrom('asc' as const, 'desc' as const),
  count: fc.constantFrom(0, 1, 49, 50, 51, 100, 130),
  /** Few times, so that many comments have the same one. */
  moments: fc.constantFrom(1, 3, 1000),
  meanwhile: fc.array(Meanwhile, { minLength: 6, maxLength: 6 }),
});

onEachDatabase((house) => {
  test('R7: a walk to the end and back with concurrent inserts and deletes repeats none and skips none that stays', async () => {
    await fc.assert(
      fc.asyncProperty(Walk, async ({ kind, direction, count, moments, meanwhile }) => {
        const list = await newList(house(), kind);
        const present = new Set(await list.add(count, (index) => timeOf((index % moments) + 500)));
        const events = meanwhile[Symbol.iterator]();

        const turn = async (cursor: Asked): Promise<Page> => {
          const { inserted, deleted } = events.next().value ?? { inserted: [], deleted: [] };
          const gone = deleted.flatMap((index) => [...present][index] ?? []);
          for (const id of gone) present.delete(id);
          const [page] = await Promise.all([
            list.ask({ sort: { direction }, ...cursor }),
            list.add(inserted.length, (index) => timeOf(inserted[index] ?? 0)),
            gone.length > 0 && house().deps.db.deleteFrom('comments').where('id', 'in', gone).execute(),
          ]);
          return page;
        };
        const check = (pages: Page[]) => {
          const seen = pages.flatMap(idsOf);
          expect(new Set(seen).size).toBe(seen.length);
          expect([...present].filter((id) => !seen.includes(id))).toEqual([]);
          const keys = pages.flatMap(({ data }) => data.map(({ createdAt, id }) => `${createdAt} ${id}`));
          expect(keys).toEqual(direction === 'asc' ? keys.toSorted() : keys.toSorted().reverse());
          for (const { data } of pages) expect(data.length).toBeLessThanOrEqual(50);
        };

        const away = await walk(await turn({}), direction === 'asc' ? 'prev' : 'next', turn);
        check(direction === 'asc' ? away.toReversed() : away);
        const [end = await turn({})] = away.slice(-1);
        const back = await walk(end, direction === 'asc' ? 'next' : 'prev', turn);
        check(direction === 'asc' ? back : back.toReversed());
      }),
      { numRuns: big ? 60 : 5 },
    );
  });
});
