import type { ApiProblem } from '@review/client';
import { expect, test } from 'vitest';
import { big } from '../../../../../scripts/testing.ts';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { deleteForGood } from '../uploads/test/uploads.ts';
import { newFile, newProject, react, read, say } from './test/talk.ts';

const ROUNDS = big ? 60 : 4;
const outcome = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (problem: ApiProblem) => problem.code,
  );

/** Without a log, because server errors are checked as results. */
const QUIET = { LOG_LEVEL: 'fatal' };

onEachDatabase((house) => {
  const remove = (id: string) => house().people.owner.client.comments.delete({ params: { id } });
  const exists = (id: string) =>
    read(house(), id).then(
      (comment) => comment,
      () => null,
    );

  test('concurrent delete and reply: the reply has its parent, or is refused', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const top = await say(house());
      const calls = [() => remove(top), () => say(house(), { parent: { id: top } })];
      if (round % 2 === 1) calls.reverse();
      const outcomes = (await Promise.all(calls.map((call) => outcome(call())))).sort();
      const parent = await exists(top);
      // Either the reply was first and the deleted comment stays, or the reply is refused.
      if (parent === null) expect(outcomes).toEqual(['REFERENCE_NOT_FOUND', 'done']);
      else {
        expect(outcomes).toEqual(['done', 'done']);
        expect(parent).toMatchObject({ content: null, replies: { count: 1 } });
      }
    }
  });

  test('a deleted comment never stays without replies when its last ones are deleted while another is added', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const projectId = await newProject(house());
      const top = await say(house(), { projectId });
      const parent = { id: top };
      const replies = [await say(house(), { projectId, parent }), await say(house(), { projectId, parent })];
      const calls = [
        () => remove(top),
        ...replies.map((id) => () => remove(id)),
        () => say(house(), { projectId, parent }),
      ];
      const outcomes = await Promise.all(calls.map((call) => outcome(call())));
      expect(outcomes.slice(0, 3)).toEqual(['done', 'done', 'done']);
      expect(['done', 'REFERENCE_NOT_FOUND']).toContain(outcomes[3]);
      const left = await exists(top);
      expect(left && { deleted: left.deletedAt !== null, replies: left.replies.count }).toEqual(
        outcomes[3] === 'done' ? { deleted: true, replies: 1 } : null,
      );
    }
  });

  test('of concurrent deletes of one comment exactly one succeeds', async () => {
    const top = await say(house());
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => outcome(remove(top))));
    expect(outcomes.sort()).toEqual([...Array(7).fill('NOT_FOUND'), 'done']);
  });

  test.each([0, 1])(
    'concurrent delete and reactions, %d replies: a deleted comment has no reaction',
    async (replies) => {
      for (let round = 0; round < ROUNDS; round++) {
        const top = await say(house());
        for (let count = 0; count < replies; count++) await say(house(), { parent: { id: top } });
        const calls = [() => remove(top), () => react(house(), top)];
        if (round % 2 === 1) calls.reverse();
        const outcomes = (await Promise.all(calls.map((call) => outcome(call())))).sort();
        expect([
          ['done', 'done'],
          ['NOT_FOUND', 'done'],
        ]).toContainEqual(outcomes);
        expect((await exists(top))?.reactions ?? []).toEqual([]);
      }
    },
  );

  test('concurrent edits, resolves and deletes: each succeeds or is 404', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const top = await say(house(), { as: 'owner' });
      const { comments } = house().people.owner.client;
      const params = { id: top };
      const outcomes = await Promise.all([
        outcome(comments.update({ params, body: { content: 'Otherwise.' } })),
        outcome(comments.resolve({ params })),
        outcome(remove(top)),
        outcome(comments.cancelResolve({ params })),
      ]);
      expect(outcomes[2]).toBe('done');
      for (const each of outcomes) expect(['done', 'NOT_FOUND']).toContain(each);
      await refusal(read(house(), top), 'NOT_FOUND');
    }
  });

  test('deleting a file while comments are added deletes them all, without an error', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const fileId = await newFile(house());
      const parent = { id: await say(house(), { fileId }) };
      const reply = await say(house(), { fileId, parent });
      const calls = [
        () => deleteForGood(house().people.owner.client, fileId),
        () => say(house(), { fileId }),
        () => say(house(), { fileId, parent }),
        () => remove(reply),
        () => remove(parent.id),
        () => react(house(), parent.id),
      ];
      if (round % 2 === 1) calls.push(...calls.splice(0, 1));
      const outcomes = await Promise.all(calls.map((call) => outcome(call())));
      for (const each of outcomes) expect(['done', 'NOT_FOUND', 'REFERENCE_NOT_FOUND']).toContain(each);
      const left = await house().deps.db.selectFrom('comments').select('id').where('file_id', '=', fileId).execute();
      expect(left).toEqual([]);
    }
  });
}, QUIET);
