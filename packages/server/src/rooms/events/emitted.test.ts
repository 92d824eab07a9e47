import { contract, type EventType, QUERY, type Room } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { secondsFromNow } from '../../db/time.ts';
import { sweep } from '../../sweeper.ts';
import { MAKER, type Named, partsOf, subjectOf, UPLOAD } from '../../test/access.ts';
import { json, onEachDatabase } from '../../test/house.ts';
import { membershipOf, newcomer, newProject } from '../../test/people.ts';
import { endOverdue } from '../generation/deadlines.ts';
import {
  direct,
  fail,
  generate,
  NO_LIMITS,
  PAGE,
  reserveSubmit,
  take,
  workerOf,
} from '../generation/test/generations.ts';
import { lastSequence, storedEvents, typesOf } from './test/streams.ts';

interface Case {
  body?: unknown;
  /** Instead, if it depends on what the path names. */
  bodyOf?: (named: Named) => unknown;
  /** Of the path's subject, before the operation. */
  before?: string[];
  emits: EventType[];
}

const newMember = ({ spareUserId }: Named) => ({
  members: [{ user: { id: spareUserId }, role: 'PROJECT_MEMBER' }],
});

/** What each operation that changes something emits, by method and path; not taken from the contract. */
const CASES: Record<string, Case> = {
  'POST /api/projects': { body: { name: 'New' }, emits: ['project.created'] },
  'PATCH /api/projects/:id': { body: { name: 'Renamed' }, emits: ['project.updated'] },
  'POST /api/projects/:id/delete': { emits: ['project.deleting'] },
  'POST /api/projects/:id/delete.cancel': { emits: ['project.restored'] },
  'POST /api/projects/:id/members': { bodyOf: newMember, emits: ['member.added'] },
  'PATCH /api/project-members/:id': { body: { role: 'PROJECT_MEMBER' }, emits: ['member.changed'] },
  'DELETE /api/project-members/:id': { emits: ['member.removed'] },
  'POST /api/projects/:id/folders': { body: { name: 'New' }, emits: ['folder.created'] },
  'PATCH /api/folders/:id': { body: { name: 'Renamed' }, emits: ['folder.updated'] },
  'DELETE /api/folders/:id': { emits: ['folder.deleted'] },
  'POST /api/projects/:id/files/upload.multipart': { body: UPLOAD, emits: ['file.created'] },
  'POST /api/files/:id/upload.complete': { bodyOf: partsOf, emits: ['file.upload.completed'] },
  'POST /api/files/:id/upload.cancel': { emits: ['file.upload.canceled'] },
  'PATCH /api/files/:id': { body: { name: 'Renamed' }, emits: ['file.updated'] },
  'PATCH /api/files/:id/tag': { body: { tag: 'APPROVED' }, emits: ['file.tagged'] },
  'POST /api/files/:id/media.rebuild': { emits: [] },
  'DELETE /api/files/:id': { emits: ['file.deleted'] },
  'POST /api/files/:id/restore': { emits: ['file.restored'] },
  'POST /api/projects/:id/files/upload.generate': { body: PAGE, emits: ['file.created', 'file.generation.queued'] },
  'POST /api/projects/:id/versions': { body: { name: 'Second' }, emits: ['version.created'] },
  'PATCH /api/versions/:id': { body: { name: 'Renamed' }, emits: ['version.updated'] },
  'PATCH /api/versions/:id/status': { body: { status: 'APPROVED' }, emits: ['version.status.changed'] },
  'POST /api/projects/:id/comments': { body: { content: 'Good.' }, emits: ['comment.created'] },
  'POST /api/files/:id/comments': { body: { content: 'Good.' }, emits: ['comment.created'] },
  'PATCH /api/comments/:id': { body: { content: 'Better.' }, emits: ['comment.updated'] },
  'DELETE /api/comments/:id': { emits: ['comment.deleted'] },
  'POST /api/comments/:id/resolve': { emits: ['comment.resolved'] },
  'POST /api/comments/:id/resolve.cancel': { before: ['POST resolve'], emits: ['comment.reopened'] },
  'POST /api/comments/:id/reactions': { body: { type: '👍' }, emits: ['reaction.added'] },
  'DELETE /api/comments/:id/reactions': {
    body: { type: '👍' },
    before: ['POST reactions'],
    emits: ['reaction.removed'],
  },
  'POST /api/projects/:id/access-links': { body: { role: 'PROJECT_REVIEWER' }, emits: ['link.created'] },
  'DELETE /api/project-access-links/:id': { emits: ['link.deleted'] },
  'POST /api/projects/:id/webhooks': { body: { url: 'https://example.com/' }, emits: ['webhook.created'] },
  'PATCH /api/webhooks/:id': { body: { description: 'Ours' }, emits: ['webhook.updated'] },
  'DELETE /api/webhooks/:id': { emits: ['webhook.deleted'] },
  'POST /api/webhooks/:id/secret.rotate': { emits: ['webhook.updated'] },
  'POST /api/webhooks/:id/test': { emits: ['webhook.tested'] },
  'POST /api/webhooks/:id/redeliver': { body: { since: '2026-01-01 00:00:00.000000' }, emits: [] },
  'POST /api/webhook-deliveries/:id/redeliver': { emits: [] },
  'POST /api/projects/:id/comment-attachments/upload.multipart': { body: UPLOAD, emits: [] },
  'POST /api/files/:id/comment-attachments/upload.multipart': { body: UPLOAD, emits: [] },
  'POST /api/projects/:id/generation-attachments/upload.multipart': { body: UPLOAD, emits: [] },
  'POST /api/comment-attachments/:id/upload.complete': { bodyOf: partsOf, emits: [] },
  'POST /api/comment-attachments/:id/upload.cancel': { emits: [] },
  'POST /api/generation-attachments/:id/upload.complete': { bodyOf: partsOf, emits: [] },
  'POST /api/generation-attachments/:id/upload.cancel': { emits: [] },
};

/** Outside of projects, or tested below. */
const ELSEWHERE = /^\S+ \/api\/(?:skills?|skill-versions|project-access-links\/redeem)(?:\/|$)/;

const CHANGES = Object.values<Room>(contract)
  .flatMap((room) => Object.values(room))
  .filter(({ method }) => method !== 'GET' && method !== QUERY)
  .map(({ method, path, metadata }) => ({ name: `${method} ${path}`, method, path, declared: metadata.events }));

test('every operation that changes something names its events', () => {
  expect(CHANGES.filter(({ declared }) => declared === undefined)).toEqual([]);
  const tested = CHANGES.map(({ name }) => name).filter((name) => !ELSEWHERE.test(name));
  expect(Object.keys(CASES).sort()).toEqual(tested.sort());
});

onEachDatabase((house) => {
  const client = () => house().people[MAKER].client;

  test.each(CHANGES.filter(({ name }) => !ELSEWHERE.test(name)))('$name', async ({ name, method, path, declared }) => {
    const { body, bodyOf, before = [], emits } = CASES[name] ?? { emits: [] };
    const named = await subjectOf(house(), { method, path });
    const { id, projectId } = named;
    const asked = bodyOf?.(named) ?? body;
    const init = asked === undefined ? {} : json(asked);
    for (const step of before) {
      const [verb = '', last = ''] = step.split(' ');
      await house().request(MAKER, verb, path.replace(':id', id).replace(/[^/]+$/, last), init);
    }
    const known = await lastSequence(house(), projectId);
    const response = await house().request(MAKER, method, path.replace(':id', id), init);
    const text = await response.text();
    expect(response.status, text).toBeLessThan(300);
    const created = path === '/api/projects' ? JSON.parse(text).data.id : projectId;
    const events = await storedEvents(house(), created, path === '/api/projects' ? 0 : known);
    expect(typesOf(events)).toEqual(emits);
    expect(emits.filter((type) => !declared?.includes(type))).toEqual([]);
    for (const event of events) {
      expect(event).toMatchObject({ project: { id: created }, actor: { id: house().people[MAKER].userId } });
      if (path.includes('/:id') && !/\.(created|added|queued)$/.test(event.type)) {
        expect(event.subject.id).toBe(id);
      }
    }
  });

  test('a change that changes nothing emits nothing', async () => {
    const params = { id: await newProject(house().people.owner) };
    const folder = (await client().folders.create({ params, body: { name: 'Folder' } })).data;
    const comment = (await client().comments.create({ params, body: { content: 'Good.' } })).data;
    const known = await lastSequence(house(), params.id);
    await client().folders.update({ params: folder, body: {} });
    await client().comments.update({ params: comment, body: {} });
    await client().comments.cancelResolve({ params: comment });
    expect(await storedEvents(house(), params.id, known)).toEqual([]);
  });

  test('an access link tells of its use and of the new or stronger member', async () => {
    const person = await newcomer(house());
    const params = { id: await newProject(house().people.owner) };
    const keyOf = async (role: 'PROJECT_REVIEWER' | 'PROJECT_MEMBER') => {
      const { data } = await client().accessLinks.create({ params, body: { role } });
      return (await client().accessLinks.get({ params: data })).data.accessKey ?? '';
    };
    const [weak, strong] = [await keyOf('PROJECT_REVIEWER'), await keyOf('PROJECT_MEMBER')];
    const redeem = async (accessKey: string) => {
      const known = await lastSequence(house(), params.id);
      await person.client.accessLinks.redeem({ body: { accessKey } });
      return typesOf(await storedEvents(house(), params.id, known));
    };
    expect(await redeem(weak)).toEqual(['link.redeemed', 'member.added']);
    expect(await redeem(strong)).toEqual(['link.redeemed', 'member.changed']);
    expect(await redeem(weak)).toEqual([]);
  });

  test('the removal of a member tells of their unfinished files', async () => {
    const person = await newcomer(house());
    const params = { id: await newProject(house().people.owner, [[person, 'PROJECT_MEMBER']]) };
    const { id } = (await person.client.files.startUpload({ params, body: UPLOAD })).data;
    const known = await lastSequence(house(), params.id);
    const member = await membershipOf(person, params.id);
    await client().members.remove({ params: { id: member } });
    const events = await storedEvents(house(), params.id, known);
    expect(typesOf(events)).toEqual(['member.removed', 'file.deleted']);
    expect(events[1]?.subject).toEqual({ type: 'file', id });
  });

  test('the sweep tells of the files of expired uploads', async () => {
    const params = { id: await newProject(house().people.owner) };
    const { id } = (await client().files.startUpload({ params, body: UPLOAD })).data;
    const known = await lastSequence(house(), params.id);
    const expired = { expires_at: secondsFromNow(-1) };
    await house().deps.db.updateTable('uploads').set(expired).where('id', '=', id).execute();
    await sweep(house().deps);
    const events = await storedEvents(house(), params.id, known);
    expect(events).toMatchObject([{ type: 'file.deleted', subject: { type: 'file', id }, actor: null }]);
  });

  test('replies and reactions name the file, whose visibility decides theirs', async () => {
    const { id, projectId } = await subjectOf(house(), { method: 'GET', path: '/api/files/:id' });
    const { comments, reactions } = client();
    const first = (await comments.createOnFile({ params: { id }, body: { content: 'Good.' } })).data;
    await comments.createOnFile({ params: { id }, body: { content: 'Yes.', parent: first } });
    await reactions.create({ params: first, body: { type: '👍' } });
    expect((await storedEvents(house(), projectId)).slice(-3)).toMatchObject([
      { type: 'comment.created', data: { file: { id }, parent: null } },
      { type: 'comment.created', data: { file: { id }, parent: first } },
      { type: 'reaction.added', subject: { type: 'comment', id: first.id }, data: { file: { id }, type: '👍' } },
    ]);
  });
});

describe('generations', () => {
  onEachDatabase((house) => {
    const newGeneration = async () => {
      const projectId = await newProject(house().people.owner);
      return { projectId, id: await generate(house(), {}, projectId) };
    };

    test('a generation tells of its start, its progress and its end, without an actor', async () => {
      const { projectId, id } = await newGeneration();
      const task = await take(house(), id);
      await reserveSubmit(house(), task);
      const worker = workerOf(house());
      const { epoch } = task;
      for (const progress of [0.2, 0.4, 0.3]) await worker.progress({ params: { id }, body: { epoch, progress } });
      await worker.storeResult({
        params: { id },
        body: { epoch, ...direct(Buffer.from('# Tides')), finish: { warnings: [] } },
      });
      const events = (await storedEvents(house(), projectId)).filter(({ type }) => type.startsWith('file.'));
      expect(typesOf(events)).toEqual([
        'file.created',
        'file.generation.queued',
        'file.generation.started',
        // The others follow within a second.
        'file.generation.progressed',
        'file.generation.succeeded',
      ]);
      expect(events.slice(2).map(({ actor }) => actor)).toEqual([null, null, null]);
      expect(JSON.stringify(events)).not.toContain('tides');
    });

    test('a failure has its code and not its message', async () => {
      const { projectId, id } = await newGeneration();
      await fail(house(), await take(house(), id));
      expect((await storedEvents(house(), projectId)).at(-1)).toMatchObject({
        type: 'file.generation.failed',
        data: { error: { code: expect.any(String) } },
      });
    });

    test('a deadline and a cancel tell of the end', async () => {
      const late = await newGeneration();
      const past = { deadline_at: secondsFromNow(-1) };
      await house().deps.db.updateTable('generations').set(past).where('file_id', '=', late.id).execute();
      await endOverdue(house().deps);
      expect((await storedEvents(house(), late.projectId)).at(-1)).toMatchObject({ type: 'file.generation.failed' });

      const canceled = await newGeneration();
      await house().people.owner.client.files.cancel({ params: { id: canceled.id } });
      expect((await storedEvents(house(), canceled.projectId)).at(-1)).toMatchObject({
        type: 'file.generation.canceled',
        actor: { id: house().people.owner.userId },
      });
    });
  }, NO_LIMITS);
});
