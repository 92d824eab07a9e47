import { describe, expect, test } from 'vitest';
import { onEachDatabase, refusal } from '../../test/house.ts';
import {
  ask,
  DRAWING,
  errorsOf,
  newAttachment,
  newFile,
  RECORD_TIME,
  ROLES,
  read,
  say,
  UNKNOWN_UUID,
  WIDE,
} from './test/talk.ts';

onEachDatabase((house) => {
  const edit = (id: string, content: string, as: (typeof ROLES)[number] = 'member') =>
    house().people[as].client.comments.update({ params: { id }, body: { content } });

  describe('edit', () => {
    test.each(ROLES)('the %s edits their own comment: updatedAt changes, createdAt does not', async (role) => {
      const id = await say(house(), { as: role });
      const before = await read(house(), id);
      await edit(id, 'On second thoughts.', role);
      const after = await read(house(), id);
      expect(after).toEqual({ ...before, content: 'On second thoughts.', updatedAt: after.updatedAt });
      expect(after.updatedAt > before.updatedAt).toBe(true);
    });

    test('others cannot, not even an owner or manager: 403', async () => {
      const id = await say(house());
      for (const role of ['owner', 'manager', 'reviewer', 'restricted'] as const) {
        await refusal(edit(id, 'Mine now.', role), 'INSUFFICIENT_ROLE');
      }
      expect((await read(house(), id)).content).toBe('Hm.');
    });

    test('it is 404 to a non-member and for an unknown id', async () => {
      const params = { id: await say(house()) };
      await refusal(house().people.stranger.client.comments.update({ params, body: { content: 'a' } }), 'NOT_FOUND');
      await refusal(edit(UNKNOWN_UUID, 'a'), 'NOT_FOUND');
    });

    test.each([
      ['a reply', async () => say(house(), { parent: { id: await say(house()) } })],
      [
        'a comment on a file',
        async () => say(house(), { fileId: await newFile(house()), anchor: 5, annotation: DRAWING }),
      ],
      [
        'a comment that had only attachments',
        async () => {
          return say(house(), { attachments: [{ id: await newAttachment(house()) }] });
        },
      ],
    ])('%s changes only in its content', async (_, comment) => {
      const id = await comment();
      const before = await read(house(), id);
      await edit(id, 'Otherwise.');
      const { updatedAt, ...after } = await read(house(), id);
      expect(after).toEqual({ ...before, content: 'Otherwise.', updatedAt: undefined });
    });

    test('content has 1 to 5000 characters', async () => {
      const id = await say(house());
      for (const content of ['a', WIDE.repeat(5000)]) {
        await edit(id, content);
        expect((await read(house(), id)).content).toBe(content);
      }
      const errors = async (content: string) => errorsOf(await refusal(edit(id, content), 'INVALID_REQUEST'));
      expect(await errors('')).toEqual(['/content TOO_SHORT']);
      expect(await errors(WIDE.repeat(5001))).toEqual(['/content TOO_LONG']);
    });

    test.each([
      ['attachments', []],
      ['parent', { id: UNKNOWN_UUID }],
      ['annotation', {}],
      ['anchor', 1],
      ['resolvedAt', null],
    ])('%s cannot be edited: 400', async (field, value) => {
      const path = `/api/comments/${await say(house())}`;
      const answer = await ask(house(), 'member', 'PATCH', path, { content: 'a', [field]: value });
      expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, `/${field}`]);
    });

    test('null content is 400; an update without fields is 204 and changes nothing', async () => {
      const id = await say(house());
      const before = await read(house(), id);
      expect((await ask(house(), 'member', 'PATCH', `/api/comments/${id}`, { content: null })).status).toBe(400);
      expect(await ask(house(), 'member', 'PATCH', `/api/comments/${id}`, {})).toEqual({ status: 204, body: null });
      expect(await read(house(), id)).toEqual(before);
    });

    test('needs comments:write', async () => {
      const reader = await house().withScopes('member', ['comments:read']);
      const call = reader.client.comments.update({ params: { id: await say(house()) }, body: { content: 'a' } });
      await refusal(call, 'INSUFFICIENT_SCOPE');
    });
  });

  describe('resolve', () => {
    const resolve = (id: string, as: (typeof ROLES)[number]) =>
      house().people[as].client.comments.resolve({ params: { id } });
    const reopen = (id: string, as: (typeof ROLES)[number]) =>
      house().people[as].client.comments.cancelResolve({ params: { id } });

    test.each(['owner', 'manager', 'member', 'reviewer'] as const)('the %s resolves and reopens', async (role) => {
      const id = await say(house(), { as: 'restricted' });
      const { createdAt, updatedAt } = await read(house(), id);
      await resolve(id, role);
      const resolved = await read(house(), id);
      expect(resolved).toMatchObject({ resolvedAt: expect.stringMatching(RECORD_TIME), createdAt, updatedAt });
      expect(String(resolved.resolvedAt) > createdAt).toBe(true);
      await reopen(id, role);
      expect((await read(house(), id)).resolvedAt).toBeNull();
    });

    test('a restricted reviewer can do neither, even with their own comment: 403', async () => {
      const id = await say(house(), { as: 'restricted' });
      await refusal(resolve(id, 'restricted'), 'INSUFFICIENT_ROLE');
      await resolve(id, 'reviewer');
      await refusal(reopen(id, 'restricted'), 'INSUFFICIENT_ROLE');
      expect((await read(house(), id)).resolvedAt).not.toBeNull();
    });

    test('resolving again is 204 and keeps the first time', async () => {
      const id = await say(house());
      await resolve(id, 'owner');
      const { resolvedAt } = await read(house(), id);
      await resolve(id, 'member');
      expect((await read(house(), id)).resolvedAt).toBe(resolvedAt);
      await reopen(id, 'owner');
      await reopen(id, 'owner');
      expect((await read(house(), id)).resolvedAt).toBeNull();
    });

    test('needs no body and no Content-Type, and answers 204 without a body', async () => {
      const id = await say(house());
      for (const verb of ['resolve', 'resolve.cancel']) {
        const path = `/api/comments/${id}/${verb}`;
        expect(await ask(house(), 'owner', 'POST', path)).toEqual({ status: 204, body: null });
      }
    });

    test('a reply and a comment on a file are resolved by themselves', async () => {
      const parent = await say(house(), { fileId: await newFile(house()) });
      const fileId = (await read(house(), parent)).file?.id ?? '';
      const reply = await say(house(), { fileId, parent: { id: parent } });
      await resolve(reply, 'owner');
      expect((await read(house(), parent)).resolvedAt).toBeNull();
      expect((await read(house(), reply)).resolvedAt).not.toBeNull();
    });

    test('it is 404 to a non-member and for an unknown id', async () => {
      const params = { id: await say(house()) };
      await refusal(house().people.stranger.client.comments.resolve({ params }), 'NOT_FOUND');
      await refusal(resolve(UNKNOWN_UUID, 'owner'), 'NOT_FOUND');
    });
  });

  test('in a project that is being deleted, writes are 409 and reads work', async () => {
    const { client } = house().people.owner;
    const projectId = (await client.projects.create({ body: { name: 'Going' } })).data.id;
    const id = await say(house(), { projectId, as: 'owner' });
    await client.projects.delete({ params: { id: projectId } });
    await refusal(say(house(), { projectId, as: 'owner' }), 'PROJECT_DELETING');
    await refusal(edit(id, 'a', 'owner'), 'PROJECT_DELETING');
    await refusal(client.comments.resolve({ params: { id } }), 'PROJECT_DELETING');
    await refusal(client.comments.delete({ params: { id } }), 'PROJECT_DELETING');
    await refusal(client.reactions.create({ params: { id }, body: { type: '👍' } }), 'PROJECT_DELETING');
    expect((await read(house(), id)).content).toBe('Hm.');
  });
});
