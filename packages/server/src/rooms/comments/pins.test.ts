import { expect, test } from 'vitest';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { DRAWING, newFile, say, WIDE } from './test/talk.ts';

onEachDatabase((house) => {
  const pinsOf = async (id: string) =>
    (await house().people.reviewer.client.comments.listPins({ params: { id } })).data;

  test('pins are the top-level comments with an anchor or a drawing, newest first', async () => {
    const fileId = await newFile(house());
    const { client } = house().people.member;
    const range = await say(house(), { fileId, content: WIDE.repeat(100), anchor: 1500, duration: 250 });
    await say(house(), { fileId, content: 'About all of it.' });
    const drawn = await say(house(), { fileId, as: 'manager', content: '', annotation: DRAWING });
    const atStart = await say(house(), { fileId, content: 'From the start.', anchor: 0 });
    await say(house(), { fileId, parent: { id: range }, anchor: 900 });
    const gone = await say(house(), { fileId, anchor: 3000 });
    await say(house(), { fileId, parent: { id: gone } });
    await client.comments.delete({ params: { id: gone } });
    await client.comments.resolve({ params: { id: range } });
    const pin = { anchor: null, duration: null, drawn: false, resolved: false, author: 'The member' };
    expect(await pinsOf(fileId)).toEqual([
      { ...pin, id: atStart, anchor: 0, excerpt: 'From the start.' },
      { ...pin, id: drawn, drawn: true, author: 'The manager', excerpt: null },
      { ...pin, id: range, anchor: 1500, duration: 250, resolved: true, excerpt: WIDE.repeat(80) },
    ]);
  });

  test('a restricted reviewer gets 404 for a file without allowRestricted', async () => {
    const id = await newFile(house());
    await refusal(house().people.restricted.client.comments.listPins({ params: { id } }), 'NOT_FOUND');
  });
});
