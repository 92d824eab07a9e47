import { describe, expect, test } from 'vitest';
import { sweep } from '../../sweeper.ts';
import { onEachDatabase, type PersonName, refusal } from '../../test/house.ts';
import {
  DRAWING,
  newAttachment,
  newFile,
  newProject,
  RECORD_TIME,
  ROLES,
  react,
  read,
  say,
  UNKNOWN_UUID,
  uploadAttachment,
} from './test/talk.ts';

onEachDatabase((house) => {
  const remove = (id: string, as: PersonName = 'member') =>
    house().people[as].client.comments.delete({ params: { id } });
  const listed = async (projectId: string) =>
    (await house().people.owner.client.comments.list({ params: { id: projectId }, body: {} })).data;
  const pendingDeletions = async (key: string) =>
    (await house().deps.db.selectFrom('pending_blob_deletions').selectAll().where('storage_key', '=', key).execute())
      .length;

  describe('permissions', () => {
    test.each(ROLES)('the %s deletes their own comment: 204 without a body', async (role) => {
      const response = await house().request(role, 'DELETE', `/api/comments/${await say(house(), { as: role })}`);
      expect([response.status, await response.text()]).toEqual([204, '']);
    });

    test.each(['owner', 'manager'] as const)('the %s deletes any comment', async (role) => {
      const id = await say(house(), { as: 'reviewer' });
      await remove(id, role);
      await refusal(read(house(), id), 'NOT_FOUND');
    });

    test.each(['member', 'reviewer', 'restricted'] as const)(
      'the %s deletes no comment of others: 403',
      async (role) => {
        const id = await say(house(), { as: 'owner' });
        await refusal(remove(id, role), 'INSUFFICIENT_ROLE');
        await read(house(), id);
      },
    );

    test('it is 404 to a non-member and for an unknown id', async () => {
      await refusal(remove(await say(house()), 'stranger'), 'NOT_FOUND');
      await refusal(remove(UNKNOWN_UUID), 'NOT_FOUND');
    });

    test('needs comments:write', async () => {
      const reader = await house().withScopes('owner', ['comments:read']);
      await refusal(reader.client.comments.delete({ params: { id: await say(house()) } }), 'INSUFFICIENT_SCOPE');
    });
  });

  describe('without replies', () => {
    test('it is 404 and not listed, and a second delete is 404', async () => {
      const projectId = await newProject(house());
      const [kept, gone] = [await say(house(), { projectId }), await say(house(), { projectId })];
      await react(house(), gone);
      await remove(gone);
      await refusal(read(house(), gone), 'NOT_FOUND');
      await refusal(remove(gone), 'NOT_FOUND');
      expect((await listed(projectId)).map(({ id }) => id)).toEqual([kept]);
    });

    test('the blobs of its attachments are scheduled for deletion, and the sweep deletes them', async () => {
      const attachment = await uploadAttachment(house());
      const { attachments } = house().people.member.client;
      const id = await say(house(), { attachments: [{ id: attachment }] });
      const { url } = (await attachments.download({ params: { id: attachment } })).data;
      expect((await fetch(url)).status).toBe(200);
      await remove(id);
      expect(await pendingDeletions(attachment)).toBe(1);
      await refusal(attachments.download({ params: { id: attachment } }), 'NOT_FOUND');
      await sweep(house().deps);
      expect([(await fetch(url)).status, await pendingDeletions(attachment)]).toEqual([404, 0]);
    });

    test('its attachments cannot be used again', async () => {
      const attachments = [{ id: await newAttachment(house()) }];
      await remove(await say(house(), { attachments }));
      await refusal(say(house(), { attachments }), 'REFERENCE_NOT_FOUND');
    });
  });

  describe('with replies', () => {
    const thread = async (replies: number, about: { fileId?: string; projectId?: string } = {}) => {
      const attachment = await newAttachment(house(), about.projectId === undefined ? {} : about);
      const top = await say(house(), { content: 'Top.', attachments: [{ id: attachment }], ...about });
      const ids = [];
      for (let count = 0; count < replies; count++) ids.push(await say(house(), { ...about, parent: { id: top } }));
      return { top, replies: ids, attachment };
    };

    test('it stays listed, with content and author null, without attachments and reactions', async () => {
      const projectId = await newProject(house());
      const { top, attachment } = await thread(2, { projectId });
      await react(house(), top);
      const before = await read(house(), top);
      await remove(top, 'manager');
      const after = await read(house(), top);
      expect(after).toEqual({
        ...before,
        content: null,
        author: null,
        attachments: [],
        reactions: [],
        replies: { count: 2 },
        deletedAt: expect.stringMatching(RECORD_TIME),
        updatedAt: after.deletedAt,
      });
      expect(await listed(projectId)).toEqual([after]);
      expect(await pendingDeletions(attachment)).toBe(1);
    });

    test('the annotation is cleared with the content', async () => {
      const fileId = await newFile(house());
      const top = await say(house(), { fileId, annotation: DRAWING });
      await say(house(), { fileId, parent: { id: top } });
      await remove(top);
      expect(await read(house(), top)).toMatchObject({ content: null, author: null, annotation: null });
    });

    test('its replies can still be read, listed and answered to', async () => {
      const { top, replies } = await thread(1);
      await remove(top);
      const more = await say(house(), { parent: { id: top }, as: 'reviewer' });
      const { data } = await house().people.owner.client.comments.listReplies({ params: { id: top }, body: {} });
      expect(data.map(({ id }) => id)).toEqual([...replies, more]);
      expect((await read(house(), top)).replies).toEqual({ count: 2 });
    });

    test('editing, resolving, reopening, reacting and deleting are 404', async () => {
      const { top } = await thread(1);
      await react(house(), top);
      await remove(top);
      const { comments, reactions } = house().people.member.client;
      const params = { id: top };
      await refusal(comments.update({ params, body: { content: 'Back.' } }), 'NOT_FOUND');
      await refusal(comments.resolve({ params }), 'NOT_FOUND');
      await refusal(comments.cancelResolve({ params }), 'NOT_FOUND');
      await refusal(react(house(), top, 'member'), 'NOT_FOUND');
      const owner = house().people.owner.client;
      await refusal(owner.reactions.delete({ params, body: { type: '👍' } }), 'NOT_FOUND');
      await refusal(remove(top), 'NOT_FOUND');
      expect((await reactions.list({ params })).data).toEqual([]);
    });

    test('it is deleted with its last reply', async () => {
      const projectId = await newProject(house());
      const { top, replies } = await thread(2, { projectId });
      await remove(top);
      await remove(replies[0] ?? '');
      expect((await read(house(), top)).deletedAt).not.toBeNull();
      await remove(replies[1] ?? '');
      await refusal(read(house(), top), 'NOT_FOUND');
      expect(await listed(projectId)).toEqual([]);
    });

    test('a comment that is not deleted stays when its replies are deleted', async () => {
      const { top, replies } = await thread(1);
      await remove(replies[0] ?? '');
      expect(await read(house(), top)).toMatchObject({ content: 'Top.', deletedAt: null, replies: { count: 0 } });
    });
  });
});
