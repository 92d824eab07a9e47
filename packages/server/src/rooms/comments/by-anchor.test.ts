import { expect, test } from 'vitest';
import { onEachDatabase } from '../../test/house.ts';
import { ask, errorsOf, newFile, say, sayMany } from './test/talk.ts';

onEachDatabase((house) => {
  interface Asked {
    next?: string;
    prev?: string;
    direction?: 'asc' | 'desc';
    resolved?: boolean;
  }
  const list = (id: string, { direction = 'asc', ...rest }: Asked) =>
    house().people.member.client.comments.listOnFile({
      params: { id },
      body: { sort: { type: 'anchor', direction }, ...rest },
    });

  test('comments on a file are listed by their anchor, those without one last', async () => {
    const fileId = await newFile(house());
    const anchors = [90_000, 0, 31_622_400_000, undefined, 5, 90_000, 40];
    const ids: string[] = [];
    for (const anchor of anchors) ids.push(await say(house(), { fileId, ...(anchor !== undefined && { anchor }) }));
    const order = [1, 4, 6, 0, 5, 2, 3].map((index) => ids[index]);
    expect((await list(fileId, {})).data.map(({ id }) => id)).toEqual(order);
    expect((await list(fileId, { direction: 'desc' })).data.map(({ id }) => id)).toEqual(order.toReversed());
    await house().people.member.client.comments.resolve({ params: { id: ids[4] ?? '' } });
    expect((await list(fileId, { resolved: true })).data.map(({ id }) => id)).toEqual([ids[4]]);
  });

  test('pages by anchor start with the earliest and join without gaps', async () => {
    const fileId = await newFile(house());
    const ids = await sayMany(house(), 120, { projectId: house().projectId, fileId });
    const { db } = house().deps;
    for (const [index, id] of ids.entries()) {
      await db
        .updateTable('comments')
        .set({ anchor: index % 7 === 0 ? null : (index * 37) % 50 })
        .where('id', '=', id)
        .execute();
    }
    const pages = [await list(fileId, {})];
    for (let next = pages[0]?.page.next; next != null; next = pages.at(-1)?.page.next)
      pages.push(await list(fileId, { next }));
    expect(pages.map(({ data }) => data.length)).toEqual([50, 50, 20]);
    const all = pages.flatMap(({ data }) => data);
    const key = ({ anchor, id }: { anchor: number | null; id: string }) =>
      `${String(anchor ?? 99).padStart(2, '0')} ${id}`;
    expect(all.map(key)).toEqual(all.map(key).toSorted());
    expect(new Set(all.map(({ id }) => id))).toEqual(new Set(ids));
    const back = await list(fileId, { prev: pages[1]?.page.prev ?? '' });
    expect(back.data).toEqual(pages[0]?.data);
  });

  test.each(['/api/projects/:id/comments'])('QUERY %s cannot sort by the anchor', async (path) => {
    const body = { sort: { type: 'anchor' } };
    const answer = await ask(house(), 'member', 'QUERY', path.replace(':id', house().projectId), body);
    expect(errorsOf(answer.body)).toEqual(['/sort/type INVALID_VALUE']);
  });
});
