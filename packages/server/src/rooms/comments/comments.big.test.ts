import { expect, test } from 'vitest';
import { onEachDatabase } from '../../test/house.ts';
import { say } from './test/talk.ts';
import { type Asked, idsOf, newList, walk } from './test/walk.ts';

const COUNT = 10_000;

onEachDatabase((house) => {
  test.each([
    ['asc', 'prev', 'next'],
    ['desc', 'next', 'prev'],
  ] as const)(
    'R7: 10,000 comments walked %s and back with concurrent inserts: none repeated, none skipped',
    { timeout: 300_000 },
    async (direction, away, back) => {
      const list = await newList(house(), 'project');
      const projectId = list.path.split('/')[3] ?? '';
      const ids = await list.add(COUNT);
      const added = new Set<string>();
      const turn = async (cursor: Asked) => {
        const [page, id] = await Promise.all([
          list.ask({ sort: { direction }, ...cursor }),
          say(house(), { projectId, content: 'Meanwhile.' }),
        ]);
        added.add(id);
        return page;
      };
      const ordered = direction === 'asc' ? ids : ids.toReversed();
      const there = await walk(await turn({}), away, turn);
      const onTheWay = (direction === 'asc' ? there.toReversed() : there).flatMap(idsOf);
      expect(onTheWay.filter((id) => !added.has(id))).toEqual(ordered);
      const [end = await turn({})] = there.slice(-1);
      const returned = await walk(end, back, turn);
      const onReturn = (direction === 'asc' ? returned : returned.toReversed()).flatMap(idsOf);
      expect(onReturn.filter((id) => !added.has(id))).toEqual(ordered);
      for (const seen of [onTheWay, onReturn]) expect(new Set(seen).size).toBe(seen.length);
      console.log(
        `R7 ${house().dialect} ${direction}: ${COUNT} comments, ${added.size} added, ${there.length + returned.length} pages`,
      );
    },
  );
});
