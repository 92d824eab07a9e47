import { describe, expect, test } from 'vitest';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { ask, errorsOf, newFile, newProject, ROLES, read, say, UNKNOWN_UUID, WIDE } from './test/talk.ts';

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

onEachDatabase((house) => {
  const path = () => `/api/projects/${house().projectId}/comments`;

  describe('permissions', () => {
    test.each(ROLES)('the %s of a project comments on it: 201 with the id only', async (role) => {
      const answer = await ask(house(), role, 'POST', path(), { content: 'Fine.' });
      expect(answer).toEqual({ status: 201, body: { data: { id: expect.stringMatching(UUID_7) } } });
      expect((await read(house(), answer.body.data.id)).author?.id).toBe(house().people[role].userId);
    });

    test.each(['stranger', 'foreigner'] as const)('the project is 404 to a %s', async (person) => {
      await refusal(say(house(), { as: person }), 'NOT_FOUND');
    });

    test('comments:write is required and sufficient', async () => {
      const params = { id: house().projectId };
      const without = await house().withScopes('owner', ['comments:read', 'projects:write']);
      await refusal(without.client.comments.create({ params, body: { content: 'Hm.' } }), 'INSUFFICIENT_SCOPE');
      const enough = await house().withScopes('owner', ['comments:write']);
      await enough.client.comments.create({ params, body: { content: 'Hm.' } });
    });
  });

  describe('content', () => {
    test.each([
      ['one character', 'a'],
      ['white space alone, which is not empty', ' \n\t '],
      ['leading and trailing space', '  a  '],
      ['5000 characters', 'a'.repeat(5000)],
      ['5000 characters of two UTF-16 units', WIDE.repeat(5000)],
      ['characters that SQL and HTML would take for their own', `'; drop table comments; -- <b>%_\\ {"a":1}`],
    ])('is stored unchanged: %s', async (_, content) => {
      expect((await read(house(), await say(house(), { content }))).content).toBe(content);
    });

    test.each([
      ['5001 characters', 'a'.repeat(5001), '/content TOO_LONG'],
      ['5001 characters of two UTF-16 units', WIDE.repeat(5001), '/content TOO_LONG'],
      ['a NUL', 'a\0b', '/content INVALID_TEXT'],
      ['half a surrogate pair', 'a\ud83d', '/content INVALID_TEXT'],
      ['nothing in it', '', '/content EMPTY_COMMENT'],
    ])('is 400: %s', async (_, content, error) => {
      expect(errorsOf(await refusal(say(house(), { content }), 'INVALID_REQUEST'))).toEqual([error]);
    });

    test('neither content nor attachments is 400', async () => {
      const answer = await ask(house(), 'member', 'POST', path(), {});
      expect([answer.status, errorsOf(answer.body)]).toEqual([400, ['/content EMPTY_COMMENT']]);
    });

    test.each([null, 5, ['a'], { text: 'a' }])('of another type is 400: %j', async (content) => {
      const answer = await ask(house(), 'member', 'POST', path(), { content });
      expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/content']);
    });
  });

  describe('fields', () => {
    test.each([
      ['contents', 'a'],
      ['author', { id: UNKNOWN_UUID }],
      ['anchor', 5],
      ['duration', 5],
      ['annotation', {}],
      ['resolvedAt', null],
    ])('a project comment with %s is 400', async (field, value) => {
      const answer = await ask(house(), 'member', 'POST', path(), { content: 'Hm.', [field]: value });
      expect([answer.status, answer.body.errors.length, answer.body.errors[0].pointer]).toEqual([400, 1, `/${field}`]);
    });

    test.each([[null], ['text'], [[]], [5]])('a body that is no object is 400: %j', async (body) => {
      const answer = await ask(house(), 'member', 'POST', path(), body);
      expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_REQUEST']);
    });
  });

  describe('parent', () => {
    test('the parent of a reply is a top-level comment, with its UUID in any letter case', async () => {
      const parent = await say(house());
      const replies = [
        await say(house(), { parent: { id: parent } }),
        await say(house(), { parent: { id: parent.toUpperCase() }, as: 'restricted' }),
      ];
      for (const reply of replies) expect((await read(house(), reply)).parent).toEqual({ id: parent });
      expect((await read(house(), parent)).replies).toEqual({ count: 2 });
    });

    test.each([
      [{ id: 'not-a-uuid' }, '/parent/id'],
      [{ id: 5 }, '/parent/id'],
      [{}, '/parent/id'],
      [{ id: UNKNOWN_UUID, more: 1 }, '/parent/more'],
      [null, '/parent'],
      [UNKNOWN_UUID, '/parent'],
    ])('malformed is 400: %j', async (parent, pointer) => {
      const answer = await ask(house(), 'member', 'POST', path(), { content: 'Hm.', parent });
      expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer]);
    });

    test('unknown is 422 with its pointer', async () => {
      const problem = await refusal(say(house(), { parent: { id: UNKNOWN_UUID } }), 'REFERENCE_NOT_FOUND');
      expect([problem.status, errorsOf(problem)]).toEqual([422, ['/parent/id REFERENCE_NOT_FOUND']]);
    });

    test('a reply as parent is 422', async () => {
      const reply = await say(house(), { parent: { id: await say(house()) } });
      const problem = await refusal(say(house(), { parent: { id: reply } }), 'PARENT_NOT_TOP_LEVEL');
      expect([problem.status, errorsOf(problem)]).toEqual([422, ['/parent/id PARENT_NOT_TOP_LEVEL']]);
    });

    test('a comment of another project is 422, even if the caller sees both', async () => {
      const elsewhere = await say(house(), { projectId: await newProject(house()) });
      const problem = await refusal(say(house(), { parent: { id: elsewhere } }), 'REFERENCE_NOT_FOUND');
      expect(errorsOf(problem)).toEqual(['/parent/id REFERENCE_NOT_FOUND']);
    });

    test('replies cannot cross between a project, a file and another file', async () => {
      const [fileId, other] = [await newFile(house()), await newFile(house())];
      const [onProject, onFile] = [await say(house()), await say(house(), { fileId })];
      await refusal(say(house(), { parent: { id: onFile } }), 'REFERENCE_NOT_FOUND');
      await refusal(say(house(), { parent: { id: onProject }, fileId }), 'REFERENCE_NOT_FOUND');
      await refusal(say(house(), { parent: { id: onFile }, fileId: other }), 'REFERENCE_NOT_FOUND');
      await say(house(), { parent: { id: onFile }, fileId });
    });

    test('a refused reply creates nothing', async () => {
      const projectId = await newProject(house());
      await refusal(say(house(), { projectId, parent: { id: UNKNOWN_UUID } }), 'REFERENCE_NOT_FOUND');
      const rows = await house()
        .deps.db.selectFrom('comments')
        .where('project_id', '=', projectId)
        .selectAll()
        .execute();
      expect(rows).toEqual([]);
    });
  });
});
