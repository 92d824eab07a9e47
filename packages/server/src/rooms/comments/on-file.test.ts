import { describe, expect, test } from 'vitest';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { problemIn } from '../../test/problem-in.ts';
import { ask, DRAWING, errorsOf, newFile, ROLES, read, say, UNKNOWN_FILE, WIDE } from './test/talk.ts';

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

onEachDatabase((house) => {
  let file: Promise<string> | undefined;
  const fileId = () => {
    file ??= newFile(house(), { allowRestricted: true });
    return file;
  };
  const post = async (body: unknown) => ask(house(), 'member', 'POST', `/api/files/${await fileId()}/comments`, body);
  const posted = async (fields: Record<string, unknown>) => {
    const answer = await post({ content: 'There.', ...fields });
    expect(answer).toMatchObject({ status: 201 });
    return read(house(), answer.body.data.id);
  };
  const refusedFields = async (fields: Record<string, unknown>) => {
    const answer = await post({ content: 'There.', ...fields });
    expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_REQUEST']);
    return errorsOf(answer.body);
  };

  test('the record has the file and the project', async () => {
    const id = await fileId();
    expect(await posted({})).toMatchObject({ file: { id }, project: { id: house().projectId }, parent: null });
  });

  test('content has the same limits as on a project', async () => {
    expect((await posted({ content: WIDE.repeat(5000) })).content).toBe(WIDE.repeat(5000));
    expect(await refusedFields({ content: WIDE.repeat(5001) })).toEqual(['/content TOO_LONG']);
    expect(errorsOf((await post({ anchor: 1 })).body)).toEqual(['/content EMPTY_COMMENT']);
  });

  test('an annotation needs no content', async () => {
    expect((await post({ anchor: 1, annotation: DRAWING })).status).toBe(201);
  });

  test('an unknown field is 400', async () => {
    expect(await refusedFields({ durations: 1 })).toEqual([expect.stringMatching(/^\/durations /)]);
  });

  test.each(['FX-no-id', UNKNOWN_FILE])('an unknown or malformed file in the path is 404: %s', async (id) => {
    expect((await ask(house(), 'member', 'POST', `/api/files/${id}/comments`, { content: 'Hm.' })).status).toBe(404);
  });

  describe.each(['anchor', 'duration'])('%s', (field) => {
    test.each([0, 1, 90_061_001, 31_622_400_000, null])('can be %j', async (value) => {
      expect(await posted({ [field]: value })).toMatchObject({ anchor: null, duration: null, [field]: value });
    });

    test.each([-1, 1.5, 31_622_400_001, '5', true, []])('cannot be %j: 400', async (value) => {
      expect(await refusedFields({ [field]: value })).toEqual([expect.stringMatching(new RegExp(`^/${field} `))]);
    });
  });

  describe('annotation', () => {
    test('a drawing is stored unchanged', async () => {
      expect(JSON.stringify((await posted({ annotation: DRAWING })).annotation)).toBe(JSON.stringify(DRAWING));
    });

    test.each([undefined, null])('is null when it is %j', async (annotation) => {
      expect((await posted({ annotation })).annotation).toBeNull();
    });

    const [pen] = DRAWING.shapes;
    test.each([
      ['no drawing', 'a line', ['/annotation INVALID_TYPE']],
      ['another version', { ...DRAWING, version: 2 }, ['/annotation/version INVALID_VALUE']],
      ['an unknown shape', { version: 1, shapes: [{ ...pen, type: 'STAR' }] }, ['/annotation/shapes/0/type INVALID']],
      [
        'a colour by name',
        { version: 1, shapes: [{ ...pen, color: 'red' }] },
        ['/annotation/shapes/0/color INVALID_FORMAT'],
      ],
      ['more than 200 kB', { ...DRAWING, by: 'a'.repeat(204_800) }, ['/annotation TOO_LARGE']],
      ['150 levels', nested(150), ['/annotation INVALID_TYPE']],
    ])('%s is 400', async (_, annotation, errors) => {
      expect(await refusedFields({ annotation })).toEqual(errors);
    });

    test.each([10_000, 100_000])('%d levels are not parsed', async (levels) => {
      const body = `{"content":"a","annotation":${'['.repeat(levels)}${']'.repeat(levels)}}`;
      const headers = { 'content-type': 'application/json' };
      const path = `/api/files/${await fileId()}/comments`;
      await problemIn(await house().request('member', 'POST', path, { body, headers }), 'INVALID_JSON');
    });

    test.each([
      ['an object', { tool: 'pen', points: [[0, 0.5]], color: '#ff0000' }],
      ['an array', [1, [2], { three: null }]],
      ['a string with a NUL, half a pair and a quote', 'a\0\ud83d"'],
      ['a number', 0],
      ['a boolean', false],
      ['an empty string', ''],
      ['names that objects have of their own', JSON.parse('{"__proto__":{"a":1},"constructor":2,"toString":3}')],
      ['100 levels', nested(100)],
    ])('what was stored before drawings had a version is returned unchanged: %s', async (_, annotation) => {
      const { id } = await posted({});
      const { db } = house().deps;
      await db
        .updateTable('comments')
        .set({ annotation: JSON.stringify(annotation) })
        .where('id', '=', id)
        .execute();
      expect(JSON.stringify((await read(house(), id)).annotation)).toBe(JSON.stringify(annotation));
      const { data } = await house().people.member.client.comments.listOnFile({
        params: { id: await fileId() },
        body: { sort: { direction: 'desc' } },
      });
      const listed = data.find((comment) => comment.id === id);
      expect(JSON.stringify(listed?.annotation)).toBe(JSON.stringify(annotation));
    });
  });

  describe('a restricted reviewer', () => {
    const conversation = async (allowRestricted: boolean) => {
      const on = await newFile(house(), { allowRestricted });
      const top = await say(house(), { fileId: on });
      return { on, top, reply: await say(house(), { fileId: on, parent: { id: top } }) };
    };
    const calls = ({ on, top, reply }: { on: string; top: string; reply: string }) => {
      const { comments, reactions } = house().people.restricted.client;
      return [
        () => comments.createOnFile({ params: { id: on }, body: { content: 'Me too.' } }),
        () => comments.listOnFile({ params: { id: on }, body: {} }),
        () => comments.get({ params: { id: top } }),
        () => comments.get({ params: { id: reply } }),
        () => comments.listReplies({ params: { id: top }, body: {} }),
        () => reactions.create({ params: { id: top }, body: { type: '👍' } }),
        () => reactions.list({ params: { id: top } }),
      ];
    };

    test('comments on a file with allowRestricted', async () => {
      for (const call of calls(await conversation(true))) await expect(call()).resolves.not.toThrow();
    });

    test('gets 404 for other files', async () => {
      for (const call of calls(await conversation(false))) await refusal(call(), 'NOT_FOUND');
    });

    test('cannot see the comments after allowRestricted is removed', async () => {
      const { on, top } = await conversation(true);
      await read(house(), top, 'restricted');
      await house().people.member.client.files.update({ params: { id: on }, body: { allowRestricted: false } });
      await refusal(read(house(), top, 'restricted'), 'NOT_FOUND');
    });

    test('sees all comments on the project itself', async () => {
      expect((await read(house(), await say(house()), 'restricted')).file).toBeNull();
    });
  });

  test.each(ROLES)('the %s comments on a file', async (role) => {
    const id = await say(house(), { as: role, fileId: await fileId() });
    expect((await read(house(), id)).author?.id).toBe(house().people[role].userId);
  });

  test.each(['stranger', 'foreigner'] as const)('to a %s the file does not exist', async (person) => {
    await refusal(say(house(), { as: person, fileId: await fileId() }), 'NOT_FOUND');
  });

  test('deleting the file deletes its comments', async () => {
    const gone = await newFile(house());
    const top = await say(house(), { fileId: gone });
    const reply = await say(house(), { fileId: gone, parent: { id: top } });
    await house().people.member.client.files.delete({ params: { id: gone } });
    await refusal(read(house(), top), 'NOT_FOUND');
    await refusal(read(house(), reply), 'NOT_FOUND');
  });
});
