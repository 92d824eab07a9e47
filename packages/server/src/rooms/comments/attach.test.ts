import { describe, expect, test } from 'vitest';
import { onEachDatabase, refusal } from '../../test/house.ts';
import {
  ask,
  errorsOf,
  newAttachment,
  newAttachments,
  newFile,
  newProject,
  ROLES,
  read,
  say,
  UNKNOWN_ATTACHMENT,
} from './test/talk.ts';

const refs = (ids: string[]) => ids.map((id) => ({ id }));

onEachDatabase((house) => {
  const path = () => `/api/projects/${house().projectId}/comments`;
  const refused = async (attachments: unknown) => {
    const answer = await ask(house(), 'member', 'POST', path(), { content: 'Hm.', attachments });
    expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_REQUEST']);
    return errorsOf(answer.body);
  };

  describe('count', () => {
    test.each([1, 10])('%d attachments are accepted, in the given order', async (count) => {
      const ids = (await newAttachments(house(), count)).sort().reverse();
      const comment = await read(house(), await say(house(), { attachments: refs(ids) }));
      expect(comment.attachments.map(({ id }) => id)).toEqual(ids);
    });

    test('an empty list is 400', async () => {
      expect(await refused([])).toHaveLength(1);
    });

    test('eleven are 400, before the check that they exist', async () => {
      const ids = Array.from({ length: 11 }, (_, index) => `CA${String(index).padStart(20, '0')}`);
      expect(await refused(refs(ids))).toEqual([expect.stringMatching(/^\/attachments /)]);
    });

    test('a repeated attachment is 400 at its second position', async () => {
      const [a = '', b = ''] = await newAttachments(house(), 2);
      expect(await refused(refs([a, b, a]))).toEqual(['/attachments/2/id DUPLICATE']);
    });
  });

  describe('content beside them', () => {
    test.each([
      ['without content', {}, null],
      ['with empty content, which is none', { content: '' }, null],
      ['with content', { content: 'See there.' }, 'See there.'],
    ])('attachments are accepted %s', async (_, fields, content) => {
      const attachments = refs([await newAttachment(house())]);
      const comment = await read(house(), await say(house(), { ...fields, attachments }));
      expect([comment.content, comment.attachments.length]).toEqual([content, 1]);
    });

    test.each(ROLES)('the %s can use their own attachment', async (role) => {
      const attachments = refs([await newAttachment(house(), { as: role })]);
      const id = await say(house(), { as: role, attachments });
      expect((await read(house(), id)).attachments).toMatchObject(attachments);
    });

    test('a reply can have attachments too', async () => {
      const attachments = refs([await newAttachment(house())]);
      const reply = await say(house(), { parent: { id: await say(house()) }, attachments });
      expect((await read(house(), reply)).attachments).toHaveLength(1);
    });
  });

  describe('references', () => {
    test.each([
      ['a generation attachment', 'GA00000000000000000000'],
      ['a file', 'FX00000000000000000000'],
      ['too short', 'CA000'],
      ['a letter that the alphabet leaves out', 'CA0000000000000000000U'],
      ['lower case', 'ca00000000000000000000'],
      ['no string', 5],
    ])('a malformed id is 400: %s', async (_, id) => {
      expect(await refused([{ id }])).toEqual([expect.stringMatching(/^\/attachments\/0\/id /)]);
    });

    test('an unknown field beside the id is 400', async () => {
      expect(await refused([{ id: UNKNOWN_ATTACHMENT, name: 'x' }])).toEqual([
        expect.stringMatching(/^\/attachments\/0\/name /),
      ]);
    });

    test("unknown ones, another user's and another project's are 422, each with its pointer", async () => {
      const ids = [
        await newAttachment(house()),
        UNKNOWN_ATTACHMENT,
        await newAttachment(house(), { as: 'owner' }),
        await newAttachment(house(), { projectId: await newProject(house()) }),
      ];
      const problem = await refusal(say(house(), { attachments: refs(ids) }), 'REFERENCE_NOT_FOUND');
      expect([problem.status, errorsOf(problem)]).toEqual([
        422,
        [1, 2, 3].map((index) => `/attachments/${index}/id REFERENCE_NOT_FOUND`),
      ]);
    });

    test('an attachment with an unfinished upload is 422 with its pointer, and can be used after completion', async () => {
      const ids = [await newAttachment(house()), await newAttachment(house(), { completed: false })];
      const problem = await refusal(say(house(), { attachments: refs(ids) }), 'ATTACHMENT_NOT_READY');
      expect([problem.status, errorsOf(problem)]).toEqual([422, ['/attachments/1/id ATTACHMENT_NOT_READY']]);
      // The refused request did not use the ready attachment.
      await say(house(), { attachments: refs(ids.slice(0, 1)) });
    });

    test('a used attachment is 422 with its pointer, also in a reply to its comment', async () => {
      const ids = [await newAttachment(house()), await newAttachment(house())];
      const first = await say(house(), { attachments: refs(ids.slice(1)) });
      const again = { attachments: refs(ids) };
      const problem = await refusal(say(house(), again), 'ATTACHMENT_USED');
      expect([problem.status, errorsOf(problem)]).toEqual([422, ['/attachments/1/id ATTACHMENT_USED']]);
      await refusal(say(house(), { ...again, parent: { id: first } }), 'ATTACHMENT_USED');
      expect((await read(house(), first)).attachments).toMatchObject(refs(ids.slice(1)));
    });

    test('an attachment started on a file can be used on the project, and vice versa', async () => {
      const fileId = await newFile(house());
      const { attachments } = house().people.member.client;
      const started = await attachments.startOnFile({ params: { id: fileId }, body: { name: 'a.txt', size: 1 } });
      const { id, parts } = started.data;
      const put = await fetch(String(parts[0]?.url), { method: 'PUT', body: 'a' });
      const eTag = put.headers.get('etag') ?? '';
      await attachments.complete({ params: { id }, body: { parts: [{ partNumber: 1, eTag }] } });
      const onProject = await say(house(), { attachments: refs([id]) });
      expect((await read(house(), onProject)).attachments).toMatchObject(refs([id]));
      const other = refs([await newAttachment(house())]);
      const onFile = await say(house(), { fileId, attachments: other });
      expect((await read(house(), onFile)).attachments).toMatchObject(other);
    });
  });

  describe('races', () => {
    const outcome = (call: Promise<string>) =>
      call.then(
        () => 'created',
        (problem: { code: string }) => problem.code,
      );

    test('of 10 concurrent comments with one attachment exactly one is created', async () => {
      const projectId = await newProject(house());
      const attachments = refs([await newAttachment(house(), { projectId })]);
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, () => outcome(say(house(), { projectId, attachments }))),
      );
      expect(outcomes.sort()).toEqual([...Array(9).fill('ATTACHMENT_USED'), 'created']);
      const { data } = await house().people.owner.client.comments.list({ params: { id: projectId }, body: {} });
      expect(data.map((comment) => comment.attachments)).toEqual([[expect.objectContaining(attachments[0] ?? {})]]);
    });

    test('of concurrent comments with the same attachments in opposite orders one is created, without a deadlock', async () => {
      for (let round = 0; round < 10; round++) {
        const ids = refs(await newAttachments(house(), 4));
        const orders = [ids, ids.toReversed(), ids, ids.toReversed()];
        const outcomes = await Promise.all(orders.map((attachments) => outcome(say(house(), { attachments }))));
        expect(outcomes.sort()).toEqual(['ATTACHMENT_USED', 'ATTACHMENT_USED', 'ATTACHMENT_USED', 'created']);
      }
    });
  });
});
