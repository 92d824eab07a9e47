import { items } from '@review/client';
import { Activity, cursorPage } from '@review/contract';
import { expect, test } from 'vitest';
import { testAccess } from '../../test/access.ts';
import { type House, onEachDatabase, type Person, refusal } from '../../test/house.ts';
import { newcomer, newProject } from '../../test/people.ts';
import { upload } from '../uploads/test/uploads.ts';
import { typesOf } from './test/streams.ts';

const Page = cursorPage(Activity);

/** Method and path, scopes, roles, tier, tool and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  GET /api/projects/:id/events     | projects:read | member | D | - | 200
  QUERY /api/projects/:id/activity | projects:read | member | D | - | 200`;

async function studio(house: House) {
  const [owner, restricted] = [await newcomer(house), await newcomer(house)];
  const id = await newProject(owner, [[restricted, 'PROJECT_RESTRICTED_REVIEWER']]);
  return { id, owner, restricted, client: owner.client };
}

const activityOf = async (person: Person, id: string, body = {}): Promise<Activity[]> =>
  (await person.client.events.list({ params: { id }, body })).data;

onEachDatabase((house) => {
  test('lists changes, newest first, with the names of actors and subjects', async () => {
    const { id, owner, restricted, client } = await studio(house());
    const folder = (await client.folders.create({ params: { id }, body: { name: 'Stills' } })).data;
    const file = await upload(client, 'FX', id, undefined, { name: 'a.txt' });
    await client.folders.delete({ params: folder });
    const listed = await activityOf(owner, id);
    expect(listed.map(({ type, subject }) => [type, subject.name])).toEqual([
      ['folder.deleted', null],
      ['file.upload.completed', 'a.txt'],
      ['file.created', 'a.txt'],
      ['folder.created', null],
      ['member.added', restricted.name],
      ['project.created', 'A project'],
    ]);
    expect(listed[1]).toMatchObject({
      id: '5',
      project: { id },
      subject: { type: 'file', id: file },
      actor: { id: owner.userId, name: owner.name, avatarUrl: null },
      data: { mimeType: expect.any(String), size: expect.any(Number) },
    });
  });

  test('is paged by cursors in both directions', async () => {
    const { id, owner, client } = await studio(house());
    for (let number = 0; number < 60; number++) {
      await client.folders.create({ params: { id }, body: { name: `${number}` } });
    }
    const ids: string[] = [];
    for await (const { id: own } of items(client.events.list, { params: { id } })) ids.push(own);
    expect(ids).toEqual(Array.from({ length: 62 }, (_, index) => String(62 - index)));
    const first = await client.events.list({ params: { id } });
    const second = await client.events.list({ params: { id }, body: { next: first.page.next ?? '' } });
    const back = await client.events.list({ params: { id }, body: { prev: second.page.prev ?? '' } });
    expect([first.data.length, second.data.length, second.page.next]).toEqual([50, 12, null]);
    expect(back.data).toEqual(first.data);
    const elsewhere = await newProject(owner);
    const moved = client.events.list({ params: { id: elsewhere }, body: { next: first.page.next ?? '' } });
    await refusal(moved, 'INVALID_CURSOR');
  });

  test('is filtered by types, actor and subject, by QUERY and by GET', async () => {
    const { id, owner, restricted, client } = await studio(house());
    const { data } = await restricted.client.comments.create({ params: { id }, body: { content: 'Good.' } });
    await client.comments.resolve({ params: data });
    const filters: [object, string, string[]][] = [
      [
        { types: ['comment.created', 'member.added'] },
        'types=comment.created,member.added',
        ['comment.created', 'member.added'],
      ],
      [{ actor: { id: restricted.userId } }, `actor.id=${restricted.userId}`, ['comment.created']],
      [{ subject: { id: data.id } }, `subject.id=${data.id}`, ['comment.resolved', 'comment.created']],
      [{ types: ['link.created'] }, 'types=link.created', []],
    ];
    for (const [body, query, types] of filters) {
      expect(typesOf(await activityOf(owner, id, body))).toEqual(types);
      const headers = { authorization: `Bearer ${owner.key}` };
      const response = await fetch(`${house().url}/api/projects/${id}/activity?${query}`, { headers });
      expect(typesOf(Page.parse(await response.json()).data)).toEqual(types);
    }
    for (const query of ['types=', 'types=comment.created,', 'types=unknown']) {
      const headers = { authorization: `Bearer ${owner.key}` };
      const response = await fetch(`${house().url}/api/projects/${id}/activity?${query}`, { headers });
      expect(response.status, query).toBe(400);
    }
  });

  test('a restricted reviewer sees only changes of what they can see, and each type needs its scope', async () => {
    const { id, owner, restricted, client } = await studio(house());
    const [hidden, shown, deleted] = [
      await upload(client, 'FX', id),
      await upload(client, 'FX', id),
      await upload(client, 'FX', id),
    ];
    const folder = (await client.folders.create({ params: { id }, body: { name: 'Shown' } })).data;
    await client.folders.create({ params: { id }, body: { name: 'Empty' } });
    for (const file of [shown, deleted]) {
      await client.files.update({ params: { id: file }, body: { allowRestricted: true, folder } });
    }
    await client.comments.createOnFile({ params: { id: hidden }, body: { content: 'secret' } });
    await client.versions.create({ params: { id }, body: { name: 'Hidden' } });
    await client.files.delete({ params: { id: hidden } });
    await client.files.delete({ params: { id: deleted } });
    expect(typesOf(await activityOf(restricted, id))).toEqual([
      'file.deleted',
      'file.updated',
      'folder.created',
      'file.upload.completed',
      'file.created',
      'member.added',
      'project.created',
    ]);
    expect(await activityOf(owner, id)).toHaveLength(16);

    const few = await newcomer(house(), { scopes: ['projects:read', 'folders:read'] });
    const members = [{ user: { id: few.userId }, role: 'PROJECT_MEMBER' as const }];
    await client.members.add({ params: { id }, body: { members } });
    expect(new Set(typesOf(await activityOf(few, id)))).toEqual(
      new Set(['version.created', 'folder.created', 'project.created']),
    );
  });

  testAccess(house, 'events', ACCESS, { 'QUERY /api/projects/:id/activity': () => ({}) });
});
