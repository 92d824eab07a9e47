import { expect, test } from 'vitest';
import { onEachDatabase } from '../../test/house.ts';
import { newFile, say, sayMany } from './test/talk.ts';
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

  test('5,000 pins are one answer', async () => {
    const fileId = await newFile(house());
    const ids = await sayMany(house(), 5000, { projectId: house().projectId, fileId });
    await house().deps.db.updateTable('comments').set({ anchor: 40 }).where('file_id', '=', fileId).execute();
    const { data } = await house().people.reviewer.client.comments.listPins({ params: { id: fileId } });
    expect(data.map(({ id }) => id)).toEqual(ids.toReversed());
  });

  test('the export of 5,000 comments has all of them, by anchor', async () => {
    const fileId = await newFile(house());
    const ids = await sayMany(house(), 5000, { projectId: house().projectId, fileId });
    const anchorOf = (index: number) => (index * 7919) % 5000;
    const { db } = house().deps;
    for (const [index, id] of ids.entries())
      await db
        .updateTable('comments')
        .set({ content: `Comment ${index}`, anchor: anchorOf(index) })
        .where('id', '=', id)
        .execute();
    const exported = await house().people.owner.client.comments.exportOnFile({ params: { id: fileId } });
    const numbers = (await exported.text()).matchAll(/Comment (\d+)/g);
    expect(Array.from(numbers, ([, index]) => Number(index))).toEqual(
      Array.from(ids.keys()).toSorted((a, b) => anchorOf(a) - anchorOf(b)),
    );
  });
});
