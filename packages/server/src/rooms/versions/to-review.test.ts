import { items } from '@review/client';
import { expect, test } from 'vitest';
import { newUuid } from '../../db/ids.ts';
import { onEachDatabase, type Person, refusal } from '../../test/house.ts';
import { newcomer, newProject } from '../../test/people.ts';
import { timeOf } from '../comments/test/talk.ts';
import { upload } from '../uploads/test/uploads.ts';

onEachDatabase((house) => {
  const waitingFor = async (person: Person) => (await person.client.versions.listMine({ body: {} })).data;

  test('lists what needs a review in all projects of the caller, newest first, until it is decided', async () => {
    const [owner, reviewer] = [await newcomer(house()), await newcomer(house())];
    const add = async (projectId: string, name: string) =>
      (await owner.client.versions.create({ params: { id: projectId }, body: { name } })).data.id;
    const film = await newProject(owner, [[reviewer, 'PROJECT_REVIEWER']], 'Film');
    const advert = await newProject(owner, [[reviewer, 'PROJECT_MEMBER']], 'Advert');
    const closed = await newProject(owner, [], 'Not theirs');
    const first = await add(film, 'First cut');
    const second = await add(advert, 'Second cut');
    await add(closed, 'Elsewhere');
    expect(await waitingFor(reviewer)).toMatchObject([
      { id: second, name: 'Second cut', status: 'NEED_REVIEW', project: { id: advert, name: 'Advert' } },
      { id: first, role: 'PROJECT_REVIEWER', project: { id: film, name: 'Film' }, files: { count: 0 } },
    ]);
    await reviewer.client.versions.setStatus({ params: { id: first }, body: { status: 'APPROVED' } });
    expect((await waitingFor(reviewer)).map(({ id }) => id)).toEqual([second]);
    const approved = await reviewer.client.versions.listMine({ body: { status: 'APPROVED' } });
    expect(approved.data.map(({ id }) => id)).toEqual([first]);
    const response = await house().request('stranger', 'GET', '/api/versions');
    expect(await response.json()).toMatchObject({ data: [], page: { next: null, prev: null } });
  });

  test('a restricted reviewer gets only open versions, with the number of open files', async () => {
    const [owner, restricted] = [await newcomer(house()), await newcomer(house())];
    const params = { id: await newProject(owner, [[restricted, 'PROJECT_RESTRICTED_REVIEWER']]) };
    const [open, hidden, trashed] = [
      await upload(owner.client, 'FX', params.id),
      await upload(owner.client, 'FX', params.id),
      await upload(owner.client, 'FX', params.id),
    ];
    for (const id of [open, trashed])
      await owner.client.files.update({ params: { id }, body: { allowRestricted: true } });
    const files = [open, hidden, trashed].map((id) => ({ id }));
    const seen = await owner.client.versions.create({ params, body: { name: 'Open', allowRestricted: true, files } });
    await owner.client.versions.create({ params, body: { name: 'Hidden', files } });
    await owner.client.files.delete({ params: { id: trashed } });
    expect(await waitingFor(restricted)).toMatchObject([
      { id: seen.data.id, role: 'PROJECT_RESTRICTED_REVIEWER', files: { count: 1 } },
    ]);
    expect((await waitingFor(owner)).map(({ files: { count } }) => count)).toEqual([2, 2]);
  });

  test('a project that is being deleted waits for nothing', async () => {
    const owner = await newcomer(house());
    const params = { id: await newProject(owner) };
    await owner.client.versions.create({ params, body: { name: 'Cut' } });
    await owner.client.projects.delete({ params });
    expect(await waitingFor(owner)).toEqual([]);
  });

  test('is paged by cursors, which belong to the caller and the status', async () => {
    const owner = await newcomer(house());
    const params = { id: await newProject(owner) };
    const { id } = (await owner.client.versions.create({ params, body: { name: 'Cut 0' } })).data;
    const row = await house().deps.db.selectFrom('versions').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const copies = Array.from({ length: 60 }, (_, index) => ({
      ...row,
      id: newUuid(),
      name: `Cut ${index + 1}`,
      created_at: timeOf(index),
    }));
    await house().deps.db.insertInto('versions').values(copies).execute();
    const names: string[] = [];
    for await (const { name } of items(owner.client.versions.listMine, { body: {} })) names.push(name);
    expect(names).toEqual(['Cut 0', ...Array.from({ length: 60 }, (_, index) => `Cut ${60 - index}`)]);
    const next = (await owner.client.versions.listMine({ body: {} })).page.next ?? '';
    await refusal(owner.client.versions.listMine({ body: { next, status: 'APPROVED' } }), 'INVALID_CURSOR');
    await refusal(house().people.owner.client.versions.listMine({ body: { next } }), 'INVALID_CURSOR');
  });

  test('needs projects:read', async () => {
    const { client } = await house().withScopes('owner', ['files:read']);
    await refusal(client.versions.listMine({ body: {} }), 'INSUFFICIENT_SCOPE');
  });
});
