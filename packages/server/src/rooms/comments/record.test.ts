import { describe, expect, test } from 'vitest';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { sentWhile } from '../../test/sent-statements.ts';
import {
  DRAWING,
  newAttachment,
  newAttachments,
  newFile,
  newProject,
  RECORD_TIME,
  ROLES,
  react,
  read,
  say,
  sayMany,
  UNKNOWN_UUID,
  uploadAttachment,
} from './test/talk.ts';

onEachDatabase((house) => {
  describe('the record', () => {
    test('of a new comment on a project has exactly the specified fields', async () => {
      const { people, projectId } = house();
      const id = await say(house(), { content: 'Too dark.', as: 'owner' });
      const comment = await read(house(), id);
      expect(comment).toStrictEqual({
        id,
        content: 'Too dark.',
        mentions: [],
        author: { id: people.owner.userId, name: 'The owner', avatarUrl: null },
        project: { id: projectId },
        file: null,
        parent: null,
        anchor: null,
        duration: null,
        annotation: null,
        attachments: [],
        reactions: [],
        replies: { count: 0 },
        resolvedAt: null,
        deletedAt: null,
        createdAt: expect.stringMatching(RECORD_TIME),
        updatedAt: comment.createdAt,
      });
    });

    test('of a reply on a file with everything', async () => {
      const { people, projectId } = house();
      const fileId = await newFile(house());
      const parent = { id: await say(house(), { fileId }) };
      const attachment = await uploadAttachment(house());
      const details = { anchor: 1500, duration: 250, annotation: DRAWING };
      const id = await say(house(), {
        content: 'Here.',
        fileId,
        parent,
        attachments: [{ id: attachment }],
        ...details,
      });
      await react(house(), id, 'reviewer');
      await people.manager.client.comments.resolve({ params: { id } });
      const comment = await read(house(), id);
      expect(comment).toStrictEqual({
        id,
        content: 'Here.',
        mentions: [],
        author: { id: people.member.userId, name: 'The member', avatarUrl: null },
        project: { id: projectId },
        file: { id: fileId },
        parent,
        ...details,
        attachments: [{ id: attachment, name: 'a.txt', mimeType: expect.any(String), size: 7 }],
        reactions: [{ type: '👍', count: 1, reacted: false }],
        replies: { count: 0 },
        resolvedAt: expect.stringMatching(RECORD_TIME),
        deletedAt: null,
        createdAt: expect.stringMatching(RECORD_TIME),
        updatedAt: comment.createdAt,
      });
    });

    test('has the name and avatar of the author in the workspace if they are set', async () => {
      const { deps, people, workspaceId } = house();
      const { userId } = people.reviewer;
      const id = await say(house(), { as: 'reviewer' });
      await deps.db.updateTable('users').set({ avatar_url: 'https://a.example/me' }).where('id', '=', userId).execute();
      const account = { id: userId, name: 'The reviewer', avatarUrl: 'https://a.example/me' };
      expect((await read(house(), id)).author).toEqual(account);
      await deps.db
        .updateTable('workspace_members')
        .set({ display_name: 'Rev', avatar_url: 'https://a.example/rev' })
        .where('user_id', '=', userId)
        .where('workspace_id', '=', workspaceId)
        .execute();
      expect((await read(house(), id)).author).toEqual({ id: userId, name: 'Rev', avatarUrl: 'https://a.example/rev' });
      const elsewhere = { display_name: 'Never shown', avatar_url: null };
      await deps.db
        .insertInto('workspace_members')
        .values({
          id: UNKNOWN_UUID,
          workspace_id: people.foreigner.workspaceId,
          user_id: userId,
          ...elsewhere,
          created_at: '',
        })
        .execute();
      expect((await read(house(), id)).author?.name).toBe('Rev');
    });

    test('groups reactions in the order of their first use, with `reacted` for the caller', async () => {
      const id = await say(house());
      for (const type of ['🎉', '👍', '❤️']) await react(house(), id, 'owner', type);
      for (const type of ['❤️', '👍']) await react(house(), id, 'member', type);
      await react(house(), id, 'restricted', '❤️');
      const groups = (reacted: boolean[]) => [
        { type: '🎉', count: 1, reacted: reacted[0] },
        { type: '👍', count: 2, reacted: reacted[1] },
        { type: '❤️', count: 3, reacted: reacted[2] },
      ];
      expect((await read(house(), id, 'owner')).reactions).toEqual(groups([true, true, true]));
      expect((await read(house(), id, 'member')).reactions).toEqual(groups([false, true, true]));
      expect((await read(house(), id, 'restricted')).reactions).toEqual(groups([false, false, true]));
      expect((await read(house(), id, 'manager')).reactions).toEqual(groups([false, false, false]));
    });

    test('counts the existing replies', async () => {
      const parent = { id: await say(house()) };
      const replies = [await say(house(), { parent }), await say(house(), { parent })];
      expect((await read(house(), parent.id)).replies).toEqual({ count: 2 });
      await house().people.member.client.comments.delete({ params: { id: replies[0] ?? '' } });
      expect((await read(house(), parent.id)).replies).toEqual({ count: 1 });
    });
  });

  describe('get', () => {
    test.each(ROLES)('the %s reads a comment of the project', async (role) => {
      expect((await read(house(), await say(house()), role)).content).toBe('Hm.');
    });

    test.each(['stranger', 'foreigner'] as const)('it is 404 to a %s', async (person) => {
      await refusal(read(house(), await say(house()), person), 'NOT_FOUND');
    });

    test.each([UNKNOWN_UUID, 'not-a-uuid', 'FX00000000000000000000'])('an unknown id is 404: %s', async (id) => {
      await refusal(read(house(), id), 'NOT_FOUND');
    });

    test('needs comments:read', async () => {
      const params = { id: await say(house()) };
      const writer = await house().withScopes('owner', ['comments:write', 'projects:read']);
      await refusal(writer.client.comments.get({ params }), 'INSUFFICIENT_SCOPE');
      const reader = await house().withScopes('owner', ['comments:read']);
      await reader.client.comments.get({ params });
    });
  });

  test('a list needs as many SQL statements for 50 full comments as for one', async () => {
    const { deps, people } = house();
    const fill = async (count: number) => {
      const projectId = await newProject(house());
      for (const id of await sayMany(house(), count, { projectId })) {
        const attachments = await newAttachments(house(), 2, { projectId });
        await deps.db.updateTable('uploads').set({ comment_id: id }).where('id', 'in', attachments).execute();
        await sayMany(house(), 1, { projectId, parentId: id });
        const held = ['👍', '🎉'].flatMap((type) =>
          ROLES.map((role) => ({ comment_id: id, user_id: people[role].userId, type, created_at: '' })),
        );
        await deps.db.insertInto('reactions').values(held).execute();
      }
      return { params: { id: projectId }, body: {} };
    };
    const [one, fifty] = [await fill(1), await fill(50)];
    const statementsOf = async (asked: typeof one) => {
      const sent = await sentWhile(deps.db, () => people.owner.client.comments.list(asked));
      // The look-up of the credential is cached, so that it may or may not happen.
      return sent.filter(({ sql: text }) => !text.includes('api_keys'));
    };
    const { data: comments } = await people.owner.client.comments.list(fifty);
    expect(comments).toHaveLength(50);
    for (const comment of comments) {
      expect(comment).toMatchObject({
        attachments: [{}, {}],
        reactions: [{ count: 5 }, { count: 5 }],
        replies: { count: 1 },
      });
    }
    // On Postgres one statement reads authors, attachments, reactions and replies.
    const expected = house().dialect === 'postgres' ? 3 : 6;
    expect(await statementsOf(one)).toHaveLength(expected);
    expect(await statementsOf(fifty)).toHaveLength(expected);
  });

  test('a used attachment can be downloaded by all who can see the comment', async () => {
    const id = await newAttachment(house());
    const { attachments } = house().people.restricted.client;
    await refusal(attachments.download({ params: { id } }), 'NOT_FOUND');
    await say(house(), { attachments: [{ id }] });
    await attachments.download({ params: { id } });
  });
});
