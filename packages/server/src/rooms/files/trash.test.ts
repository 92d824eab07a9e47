import { contract, getForm, QUERY, type Room, type Route } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { secondsFromNow } from '../../db/time.ts';
import { sweep } from '../../sweeper.ts';
import { type House, json, onEachDatabase, type PersonName, refusal } from '../../test/house.ts';
import { newProject } from '../../test/people.ts';
import { lastSequence, storedEvents } from '../events/test/streams.ts';
import { generate, PAGE, workerOf } from '../generation/test/generations.ts';
import { readyPicture } from '../media/test/media.ts';
import { newFolder, sent, upload } from '../uploads/test/uploads.ts';

const DAY = 86_400;
const bytes = Buffer.from('some bytes');
/** In every text that only the file has: its name, its description and its comments. */
const HIDDEN = 'Hiddenword';

const READS = Object.values<Room>(contract)
  .flatMap((room): Route[] => Object.values(room))
  .filter(({ method, path }) => (method === 'GET' || method === QUERY) && !path.endsWith('/trash'))
  .flatMap((route) => [route, getForm(route) ?? []].flat())
  // A stream does not end; it filters as the activity does.
  .filter(({ path }) => path !== '/api/projects/:id/events');

const bodyOf = ({ path }: Route) => (path === '/api/search' ? { keyword: HIDDEN } : {});

onEachDatabase((house) => {
  const client = () => house().people.owner.client;
  const read = async (id: string) => (await client().files.get({ params: { id } })).data;
  const remove = (id: string, person: PersonName = 'owner') =>
    house().people[person].client.files.delete({ params: { id } });
  const restore = (id: string) => client().files.restore({ params: { id } });
  const trashOf = async (id: string) => (await client().files.trash({ params: { id } })).data;
  const newUpload = (projectId = house().projectId) => upload(client(), 'FX', projectId, bytes);
  const row = (id: string) => house().deps.db.selectFrom('files').selectAll().where('id', '=', id).executeTakeFirst();

  test('a deleted file is listed in the trash, the last deleted first, until it is restored as it was', async () => {
    const projectId = await newProject(house().people.owner);
    const [one, two] = [await newUpload(projectId), await newUpload(projectId)];
    // The hash is computed in the background.
    await expect.poll(async () => (await read(one)).sha256).not.toBeNull();
    const before = await read(one);
    await remove(two);
    await remove(one);
    const trash = await trashOf(projectId);
    expect(trash.map(({ id }) => id)).toEqual([one, two]);
    expect(trash[0]).toMatchObject({ name: before.name, size: bytes.length });
    const days = (Date.parse(`${trash[0]?.deletesAt}Z`) - Date.parse(`${trash[0]?.trashedAt}Z`)) / 1000 / DAY;
    expect(days).toBe(30);
    await restore(one);
    expect(await read(one)).toEqual(before);
    expect((await trashOf(projectId)).map(({ id }) => id)).toEqual([two]);
  });

  test('pages of 50', async () => {
    const projectId = await newProject(house().people.owner);
    const ids = await Promise.all(Array.from({ length: 51 }, () => newUpload(projectId)));
    for (const id of ids) await remove(id);
    const first = await client().files.trash({ params: { id: projectId } });
    const second = await client().files.trash({ params: { id: projectId }, body: { next: first.page.next ?? '' } });
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids.toReversed());
    expect(second.page.next).toBeNull();
  });

  describe('nothing shows a file in the trash', () => {
    /** The ids of a project whose only file, with everything that belongs to it, is in the trash, by subject. */
    async function hiddenThings({ people }: House) {
      const project = await newProject(people.owner, [
        [people.member, 'PROJECT_MEMBER'],
        [people.restricted, 'PROJECT_RESTRICTED_REVIEWER'],
      ]);
      const params = { id: project };
      const folder = await newFolder(house(), project);
      const file = await readyPicture(house(), project);
      const change = { name: `${HIDDEN}.png`, description: HIDDEN, allowRestricted: true, folder: { id: folder } };
      await client().files.update({ params: { id: file }, body: change });
      const attachment = await upload(client(), 'CA', project, bytes, { name: `${HIDDEN}.txt` });
      const talk = { content: HIDDEN, attachments: [{ id: attachment }] };
      const comment = (await client().comments.createOnFile({ params: { id: file }, body: talk })).data.id;
      const reply = { content: HIDDEN, parent: { id: comment } };
      await client().comments.createOnFile({ params: { id: file }, body: reply });
      await client().reactions.create({ params: { id: comment }, body: { type: '👍' } });
      const held = { name: 'A version', allowRestricted: true, files: [{ id: file }] };
      const version = (await client().versions.create({ params, body: held })).data.id;
      await remove(file);
      return { project, file, folder, comment, attachment, version };
    }

    test('every read', async () => {
      const ids = await hiddenThings(house());
      const subjects: Record<string, string> = { ...ids, 'comment-attachment': ids.attachment };
      const answers: string[] = [];
      for (const route of READS) {
        const { subject } = route.metadata;
        const id = subject === null ? '' : subjects[subject];
        if (id === undefined) continue;
        for (const person of ['owner', 'member', 'restricted'] as const) {
          const init = String(route.method) === 'QUERY' ? json(bodyOf(route)) : {};
          const response = await house().request(person, route.method, route.path.replace(':id', id), init);
          const text = await response.text();
          const belongsToFile = ['file', 'comment', 'comment-attachment'].includes(subject ?? '');
          const leaks =
            text.includes(HIDDEN) || (!route.path.endsWith('/activity') && text.includes(ids.file) && !belongsToFile);
          const isShown = belongsToFile && response.status !== 404;
          if (leaks || isShown) answers.push(`${person} ${route.method} ${route.path}: ${response.status} ${text}`);
        }
      }
      expect(answers).toEqual([]);
      const listed = await client().projects.list({ body: {} });
      expect(listed.data.find(({ id }) => id === ids.project)?.thumbnailUrl).toBeNull();
      expect((await client().versions.get({ params: { id: ids.version } })).data).toMatchObject({ files: [] });
      const { folders } = house().people.restricted.client;
      expect((await folders.list({ params: { id: ids.project } })).data).toEqual([]);
    });

    test('every change of it is 404', async () => {
      const { file, comment, attachment } = await hiddenThings(house());
      const subjects: Record<string, string> = { file, comment, 'comment-attachment': attachment };
      const changes = Object.values<Room>(contract)
        .flatMap((room): Route[] => Object.values(room))
        .filter(({ method, metadata }) => method !== 'GET' && String(method) !== 'QUERY' && metadata.subject !== null);
      for (const { method, path, metadata } of changes) {
        const id = subjects[metadata.subject ?? ''];
        if (id === undefined) continue;
        const response = await house().request('owner', method, path.replace(':id', id), json({}));
        expect([path, response.status]).toEqual([path, 404]);
      }
    });

    test('it cannot be referenced', async () => {
      const { project, file, version } = await hiddenThings(house());
      const references = [{ id: file }];
      const params = { id: project };
      const { generation, versions } = client();
      await refusal(generation.generate({ params, body: { ...PAGE, attachments: references } }), 'REFERENCE_NOT_FOUND');
      await refusal(versions.update({ params: { id: version }, body: { files: references } }), 'REFERENCE_NOT_FOUND');
    });

    test('restored, it has all of that again', async () => {
      const { file, comment, attachment, version, folder, project } = await hiddenThings(house());
      const other = await newUpload(project);
      await client().versions.update({ params: { id: version }, body: { files: [{ id: other }] } });
      await restore(file);
      expect(await read(file)).toMatchObject({ folder: { id: folder }, media: { status: 'READY' } });
      expect((await client().comments.get({ params: { id: comment } })).data).toMatchObject({
        attachments: [{ id: attachment }],
        reactions: [{ type: '👍' }],
        replies: { count: 1 },
      });
      const { files } = (await client().versions.get({ params: { id: version } })).data;
      expect(files.map(({ id }) => id).sort()).toEqual([file, other].sort());
      const found = await client().files.list({ params: { id: project }, body: { keyword: HIDDEN } });
      expect(found.data.map(({ id }) => id)).toEqual([file]);
    });
  });

  test('a file whose folder is deleted meanwhile is restored to the root', async () => {
    const folder = { id: await newFolder(house()) };
    const id = await newUpload();
    await client().files.update({ params: { id }, body: { folder } });
    await remove(id);
    await client().folders.delete({ params: folder });
    await restore(id);
    expect((await read(id)).folder).toBeNull();
  });

  test('a restore of a file that is not in the trash changes nothing', async () => {
    const id = await newUpload();
    const known = await lastSequence(house(), house().projectId);
    await restore(id);
    const events = await storedEvents(house(), house().projectId, known);
    expect(events.filter(({ subject }) => subject.id === id)).toEqual([]);
  });

  describe('what is not finished is canceled', () => {
    test('an upload', async () => {
      const { id } = await sent(client(), 'FX', house().projectId, bytes);
      const known = await lastSequence(house(), house().projectId);
      await remove(id);
      const events = await storedEvents(house(), house().projectId, known);
      expect(events.map(({ type, data }) => [type, data])).toEqual([
        ['file.upload.canceled', {}],
        ['file.deleted', { allowRestricted: false, trashed: true }],
      ]);
      await restore(id);
      expect((await read(id)).status).toBe('CANCELED');
    });

    test('a generation, which frees its slot', async () => {
      const id = await generate(house());
      await remove(id);
      const { data } = await workerOf(house()).claim({ body: { worker: 'box:1', most: 100, wait: 0 } });
      expect(data.tasks).toEqual([]);
      await restore(id);
      expect(await read(id)).toMatchObject({ status: 'CANCELED', generation: { status: 'CANCELED' } });
    });
  });

  describe('deleting a file in the trash', () => {
    test.each(['owner', 'manager'] as const)('is final for the %s', async (person) => {
      const id = await newUpload();
      await remove(id);
      await remove(id, person);
      expect(await row(id)).toBeUndefined();
      await refusal(restore(id), 'NOT_FOUND');
    });

    test('is refused to a member, who can restore it', async () => {
      const id = await newUpload();
      await remove(id, 'member');
      await refusal(remove(id, 'member'), 'INSUFFICIENT_ROLE');
      await house().people.member.client.files.restore({ params: { id } });
      expect((await read(id)).id).toBe(id);
    });

    test('does not happen by a retry with the same Idempotency-Key', async () => {
      const retried = await newUpload();
      const headers = { 'idempotency-key': retried };
      const first = await house().request('owner', 'DELETE', `/api/files/${retried}`, { headers });
      const second = await house().request('owner', 'DELETE', `/api/files/${retried}`, { headers });
      expect([first.status, second.status, second.headers.get('idempotency-replayed')]).toEqual([204, 204, 'true']);
      expect(await row(retried)).toBeDefined();
    });

    test('happens with trashed=true only, and not with trashed=false', async () => {
      const id = await newUpload();
      const asked = (trashed: 'true' | 'false') => client().files.delete({ params: { id }, query: { trashed } });
      await refusal(asked('true'), 'NOT_FOUND');
      expect((await read(id)).id).toBe(id);
      await asked('false');
      await refusal(asked('false'), 'NOT_FOUND');
      expect(await row(id)).toBeDefined();
      await asked('true');
      expect(await row(id)).toBeUndefined();
    });
  });

  test('the sweep deletes files after 30 days, with their bytes and an event', async () => {
    const projectId = await newProject(house().people.owner);
    const [old, recent] = [await newUpload(projectId), await newUpload(projectId)];
    await remove(old);
    await remove(recent);
    const key = (await row(old))?.storage_key ?? '';
    const age = (id: string, seconds: number) =>
      house()
        .deps.db.updateTable('files')
        .set({ trashed_at: secondsFromNow(seconds) })
        .where('id', '=', id)
        .execute();
    await age(old, -30 * DAY - 1);
    await age(recent, -30 * DAY + 60);
    const known = await lastSequence(house(), projectId);
    await sweep(house().deps);
    expect((await trashOf(projectId)).map(({ id }) => id)).toEqual([recent]);
    expect(await house().deps.storage.sizeOf(key)).toBeNull();
    expect(await storedEvents(house(), projectId, known)).toMatchObject([
      { type: 'file.deleted', subject: { id: old }, actor: null, data: { trashed: false } },
    ]);
  });
});
