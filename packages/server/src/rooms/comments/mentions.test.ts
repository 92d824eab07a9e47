import { mentionOf } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { newUuid } from '../../db/ids.ts';
import { now } from '../../db/time.ts';
import { onEachDatabase, type PersonName, refusal } from '../../test/house.ts';
import { membershipOf, newcomer, newProject } from '../../test/people.ts';
import { lastSequence, openStream, storedEvents, typesOf } from '../events/test/streams.ts';
import { errorsOf, newFile, read, say, UNKNOWN_UUID } from './test/talk.ts';

onEachDatabase((house) => {
  const people = () => house().people;
  const at = (name: PersonName) => mentionOf(people()[name].userId);
  const person = (name: PersonName) => ({ id: people()[name].userId, name: `The ${name}`, avatarUrl: null });
  const edit = (id: string, content: string) =>
    people().member.client.comments.update({ params: { id }, body: { content } });
  /** The events of the work, as type and data. */
  async function eventsOf(work: () => Promise<unknown>) {
    const known = await lastSequence(house(), house().projectId);
    await work();
    return storedEvents(house(), house().projectId, known);
  }

  describe('a mention', () => {
    test('is kept as an id, and the record has the people once, in the order of the text', async () => {
      const content = `${at('reviewer')}, ask ${at('owner').toUpperCase()} and ${at('reviewer')}. <@nobody>`;
      const comment = await read(house(), await say(house(), { content }));
      expect(comment.content).toBe(content);
      expect(comment.mentions).toEqual([person('reviewer'), person('owner')]);
    });

    test('emits one event with the ids, which names the file, on comments and replies', async () => {
      const fileId = await newFile(house());
      const parent = { id: await say(house(), { fileId }) };
      let id = '';
      const events = await eventsOf(async () => {
        id = await say(house(), { fileId, parent, content: `${at('manager')} ${at('owner')}` });
      });
      expect(typesOf(events)).toEqual(['comment.created', 'comment.mentioned']);
      expect(events[1]).toMatchObject({
        subject: { type: 'comment', id },
        actor: { id: people().member.userId },
        data: { file: { id: fileId }, users: [{ id: people().manager.userId }, { id: people().owner.userId }] },
      });
    });

    test('an edit tells only those who are new', async () => {
      const id = await say(house(), { content: at('manager') });
      const added = await eventsOf(() => edit(id, `${at('manager')} ${at('reviewer')}`));
      expect(typesOf(added)).toEqual(['comment.updated', 'comment.mentioned']);
      expect(added[1]?.data).toEqual({ file: null, users: [{ id: people().reviewer.userId }] });
      expect(typesOf(await eventsOf(() => edit(id, `Only ${at('reviewer')}`)))).toEqual(['comment.updated']);
      expect((await read(house(), id)).mentions).toEqual([person('reviewer')]);
    });

    test('a deleted comment with replies mentions nobody', async () => {
      const id = await say(house(), { content: at('owner') });
      await say(house(), { parent: { id } });
      await people().member.client.comments.delete({ params: { id } });
      expect(await read(house(), id)).toMatchObject({ content: null, mentions: [] });
    });
  });

  describe('who can be mentioned', () => {
    const refused = async (call: Promise<unknown>) => {
      const problem = await refusal(call, 'REFERENCE_NOT_FOUND');
      expect(errorsOf(problem)).toEqual(['/content REFERENCE_NOT_FOUND']);
      return problem.errors[0]?.message;
    };

    test('not a stranger or an unknown person: 422, and nothing is stored', async () => {
      const stranger = await newcomer(house());
      const events = await eventsOf(async () => {
        const token = mentionOf(stranger.userId);
        expect(await refused(say(house(), { content: token }))).toBe(`${token} must name a member of the project.`);
        await refused(say(house(), { content: mentionOf(UNKNOWN_UUID) }));
      });
      expect(events).toEqual([]);
      const id = await say(house(), { content: 'Before.' });
      await refused(edit(id, `After ${mentionOf(stranger.userId)}`));
      expect((await read(house(), id)).content).toBe('Before.');
    });

    test('a restricted reviewer only where they can see the comment', async () => {
      const content = at('restricted');
      const [hidden, open] = [await newFile(house()), await newFile(house(), { allowRestricted: true })];
      expect(await refused(say(house(), { fileId: hidden, content }))).toContain('who can see the file');
      await refused(edit(await say(house(), { fileId: hidden }), content));
      for (const fileId of [open, undefined]) {
        const id = await say(house(), { content, ...(fileId !== undefined && { fileId }) });
        expect((await read(house(), id, 'restricted')).mentions).toEqual([person('restricted')]);
      }
    });

    test('a restricted reviewer gets no event of a file that is hidden from them', async () => {
      const fileId = await newFile(house());
      await using stream = await openStream(house(), people().restricted, house().projectId);
      await say(house(), { fileId, content: at('owner') });
      const id = await say(house(), { content: at('restricted') });
      expect(await stream.events(2)).toMatchObject([
        { type: 'comment.created', subject: { id } },
        { type: 'comment.mentioned', subject: { id }, data: { users: [{ id: people().restricted.userId }] } },
      ]);
    });

    test('someone who left the project stays mentioned, and the comment can still be edited', async () => {
      const leaver = await newcomer(house());
      const { owner } = people();
      const projectId = await newProject(owner, [[leaver, 'PROJECT_REVIEWER']]);
      const token = mentionOf(leaver.userId);
      const id = await say(house(), { projectId, as: 'owner', content: `${token}, please look.` });
      await owner.client.members.remove({ params: { id: await membershipOf(leaver, projectId, owner) } });
      await owner.client.comments.update({ params: { id }, body: { content: `${token}, never mind.` } });
      expect(await read(house(), id)).toMatchObject({
        content: `${token}, never mind.`,
        mentions: [{ id: leaver.userId, name: leaver.name }],
      });
      await refused(say(house(), { projectId, as: 'owner', content: token }));
    });

    test('a person of another workspace is not named, whatever the text was before', async () => {
      const { deps } = house();
      const workspace = { id: newUuid(), name: 'Elsewhere', created_at: now() };
      await deps.db.insertInto('workspaces').values(workspace).execute();
      const foreigner = await newcomer(house(), { workspaceId: workspace.id });
      const id = await say(house());
      const content = `Hello ${mentionOf(foreigner.userId)}`;
      await deps.db.updateTable('comments').set({ content }).where('id', '=', id).execute();
      expect(await read(house(), id)).toMatchObject({ content, mentions: [] });
    });
  });

  describe('names in place of tokens', () => {
    test('in the export, with replies', async () => {
      const fileId = await newFile(house());
      const parent = { id: await say(house(), { fileId, content: `${at('owner')}: darker` }) };
      await say(house(), { fileId, parent, content: `Thanks ${at('member')}` });
      const response = await house().request('owner', 'GET', `/api/files/${fileId}/comments/export?format=csv`);
      const text = await response.text();
      expect(text).toContain('@The owner: darker');
      expect(text).toContain('Thanks @The member');
      expect(text).not.toContain('<@');
    });

    test('in the excerpts of pins, where a token may be cut', async () => {
      const fileId = await newFile(house());
      await say(house(), {
        fileId,
        anchor: 0,
        content: `${at('owner')} ${'a'.repeat(90)} ${at('member')} ${at('owner')}`,
      });
      const { data } = await people().owner.client.comments.listPins({ params: { id: fileId } });
      expect(data[0]?.excerpt).toBe(`@The owner ${'a'.repeat(69)}`);
      await say(house(), { fileId, anchor: 1, content: `${at('owner').repeat(4)}${at('member')}` });
      const { data: cut } = await people().owner.client.comments.listPins({ params: { id: fileId } });
      expect(cut[0]?.excerpt).toBe('@The owner'.repeat(4));
    });

    test('in search, which finds the name and not the id', async () => {
      const known = await newcomer(house(), { name: 'Quirina Zellweger' });
      const projectId = await newProject(people().owner, [[known, 'PROJECT_MEMBER']]);
      const token = mentionOf(known.userId);
      const id = await say(house(), { projectId, as: 'owner', content: `Look, ${token}!` });
      const find = async (keyword: string) =>
        (await people().owner.client.search.find({ body: { keyword, types: ['COMMENT'], project: { id: projectId } } }))
          .data;
      expect(await find('@quirina z')).toMatchObject([{ id, excerpt: 'Look, @Quirina Zellweger!' }]);
      expect(await find(known.userId)).toEqual([]);
      await people().owner.client.comments.update({ params: { id }, body: { content: `Again ${token}` } });
      expect(await find('quirina')).toMatchObject([{ excerpt: 'Again @Quirina Zellweger' }]);
    });

    test('in the activity', async () => {
      const id = await say(house(), { content: `${at('owner')} ${at('reviewer')}` });
      const { data } = await people().owner.client.events.list({
        params: { id: house().projectId },
        body: { types: ['comment.mentioned'], subject: { id } },
      });
      expect(data).toMatchObject([
        { type: 'comment.mentioned', actor: person('member'), people: [person('owner'), person('reviewer')] },
      ]);
    });
  });
});
