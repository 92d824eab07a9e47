import { describe, expect, test, vi } from 'vitest';
import { secondsFromNow } from '../../db/time.ts';
import { sweep } from '../../sweeper.ts';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { newProject } from '../../test/people.ts';
import { reviewJson } from '../../test/review.ts';
import { storedEvents, typesOf } from '../events/test/streams.ts';
import { workerOf } from '../generation/test/generations.ts';
import { setDeletion } from '../projects/queries.ts';
import { deleteForGood, uploadFile } from '../uploads/test/uploads.ts';
import { mediaKindOf } from './kind.ts';
import {
  attempt,
  FACTS,
  finish,
  keysOf,
  newPicture,
  readyPicture,
  sendRendition,
  storeRendition,
  THUMBNAIL,
  WEBP,
} from './test/media.ts';

test.each([
  ['image/png', 'IMAGE'],
  ['image/svg+xml', 'IMAGE'],
  ['video/mp4', 'VIDEO'],
  ['application/mxf', 'VIDEO'],
  ['audio/mpeg', 'AUDIO'],
  ['application/pdf', 'DOCUMENT'],
  ['model/gltf-binary', 'MODEL'],
  ['text/plain', null],
  ['application/zip', null],
  [null, null],
])('%s is %s', (type, kind) => {
  expect(mediaKindOf(type)).toBe(kind);
});

onEachDatabase((house) => {
  const client = () => house().people.owner.client;
  const get = async (id: string) => (await client().files.get({ params: { id } })).data;
  const claimed = async () => (await workerOf(house()).claimMedia({ body: { most: 100, wait: 0 } })).data.files;
  const expireLeases = () =>
    house()
      .deps.db.updateTable('media')
      .set({ due_at: secondsFromNow(-60) })
      .where('due_at', 'is not', null)
      .execute();

  describe('the task', () => {
    test('is added when the content is complete, and only for media', async () => {
      const picture = await newPicture(house());
      const text = await uploadFile(house(), Buffer.from('# Cut 3'));
      expect(await get(picture)).toMatchObject({
        status: 'UPLOADED',
        media: { status: 'PENDING', error: null, kind: 'IMAGE', width: null, placeholder: null },
        thumbnailUrl: null,
        renditions: [],
      });
      expect((await get(text)).media).toBeNull();
      const ids = (await claimed()).map(({ fileId }) => fileId);
      expect(ids).toContain(picture);
      expect(ids).not.toContain(text);
    });

    test('is claimed once, and again after its lease; the former holder is fenced off', async () => {
      const id = await newPicture(house());
      const own = async () => (await claimed()).filter(({ fileId }) => fileId === id);
      const [first] = await own();
      expect(await own()).toEqual([]);
      await expireLeases();
      const [second] = await own();
      expect(second?.epoch).toBeGreaterThan(first?.epoch ?? 0);
      const worker = workerOf(house());
      const params = { id };
      const epoch = first?.epoch ?? 1;
      await refusal(worker.startMedia({ params, body: { epoch } }), 'NOT_FOUND');
      await refusal(worker.renewMedia({ params, body: { epoch } }), 'NOT_FOUND');
      await refusal(worker.releaseMedia({ params, body: { epoch } }), 'NOT_FOUND');
      await refusal(worker.recordFacts({ params, body: { epoch, facts: FACTS } }), 'NOT_FOUND');
      await refusal(worker.finishMedia({ params, body: { epoch, error: null } }), 'NOT_FOUND');
      await refusal(sendRendition(house(), { id, epoch }), 'NOT_FOUND');
      const { data } = await worker.startMedia({ params, body: { epoch: second?.epoch ?? 1 } });
      expect(data.task).toMatchObject({ kind: 'IMAGE', mimeType: 'image/png', stored: [] });
      expect((await fetch(data.task.url)).status).toBe(200);
    });

    test('fails after three attempts without a result; a released attempt does not count', async () => {
      const id = await newPicture(house());
      const worker = workerOf(house());
      for (let count = 0; count < 5; count++) {
        const { epoch } = await attempt(house(), id);
        await worker.releaseMedia({ params: { id }, body: { epoch } });
      }
      for (let count = 0; count < 3; count++) await attempt(house(), id);
      await refusal(attempt(house(), id), 'NOT_FOUND');
      expect((await get(id)).media).toMatchObject({
        status: 'FAILED',
        error: { code: 'INTERNAL', message: 'Workers failed 3 times while they read this file. Their log tells why.' },
      });
      await expireLeases();
      expect((await claimed()).map(({ fileId }) => fileId)).not.toContain(id);
    });

    test('tells of its end', async () => {
      const projectId = await newProject(house().people.owner);
      await readyPicture(house(), projectId);
      const held = await attempt(house(), await newPicture(house(), projectId));
      const error = { code: 'UNREADABLE', message: 'The file is damaged.' } as const;
      await workerOf(house()).finishMedia({ params: held, body: { epoch: held.epoch, error } });
      expect((await get(held.id)).media).toMatchObject({ status: 'FAILED', error });
      const events = (await storedEvents(house(), projectId)).filter(({ type }) => type.startsWith('file.media.'));
      expect(typesOf(events)).toEqual(['file.media.ready', 'file.media.failed']);
      expect(events[1]).toMatchObject({ actor: null, data: { error: { code: 'UNREADABLE' } } });
    });
  });

  describe('renditions', () => {
    test('may be missing while the facts are known: then it is READY with the reason', async () => {
      const projectId = await newProject(house().people.owner);
      const held = await attempt(house(), await newPicture(house(), projectId));
      const error = { code: 'NO_DECODER', message: 'The workers have no decoder.' } as const;
      const { epoch } = held;
      await workerOf(house()).recordFacts({ params: held, body: { epoch, facts: FACTS } });
      await workerOf(house()).finishMedia({ params: held, body: { epoch, error, status: 'READY' } });
      expect((await get(held.id)).media).toMatchObject({ status: 'READY', error, width: 1920 });
      const events = (await storedEvents(house(), projectId)).filter(({ type }) => type.startsWith('file.media.'));
      expect(typesOf(events)).toEqual(['file.media.ready']);
    });

    test('are on Get File with a URL, and lists have the thumbnail', async () => {
      const projectId = await newProject(house().people.owner);
      const id = await readyPicture(house(), projectId);
      const { media, renditions, thumbnailUrl } = await get(id);
      expect(media).toEqual({ status: 'READY', error: null, kind: 'IMAGE', ...FACTS });
      expect(renditions).toEqual([
        {
          kind: 'THUMBNAIL',
          page: null,
          mimeType: 'image/webp',
          width: 320,
          height: 180,
          size: WEBP.length,
          filmstrip: null,
          url: thumbnailUrl,
          expiresAt: expect.any(String),
        },
      ]);
      const answer = await fetch(thumbnailUrl ?? '');
      expect([answer.headers.get('content-type'), Buffer.from(await answer.arrayBuffer())]).toEqual([
        'image/webp',
        WEBP,
      ]);
      const params = { id: projectId };
      const [listed] = (await client().files.list({ params, body: {} })).data;
      expect(listed).toMatchObject({ media, thumbnailUrl });
      expect(listed).not.toHaveProperty('renditions');
      expect((await client().projects.get({ params })).data.thumbnailUrl).toBe(thumbnailUrl);
      const version = (await client().versions.create({ params, body: { name: 'Cut', files: [{ id }] } })).data;
      expect((await client().versions.get({ params: version })).data.thumbnailUrl).toBe(thumbnailUrl);
      const other = await house().withScopes('owner', ['projects:read']);
      expect((await other.client.projects.get({ params })).data.thumbnailUrl).toBeNull();
      expect((await other.client.versions.get({ params: version })).data.thumbnailUrl).toBeNull();
    });

    test('keep their URL within the hour and change it after', async () => {
      const id = await readyPicture(house());
      const start = Math.ceil(Date.now() / 3_600_000) * 3_600_000;
      using time = vi.spyOn(Date, 'now').mockReturnValue(start);
      const first = await get(id);
      time.mockReturnValue(start + 3_599_000);
      expect(await get(id)).toEqual(first);
      time.mockReturnValue(start + 3_600_000);
      expect((await get(id)).thumbnailUrl).not.toBe(first.thumbnailUrl);
    });

    test('of restricted projects are not shown to restricted reviewers', async () => {
      const { owner, restricted } = house().people;
      const projectId = await newProject(owner, [[restricted, 'PROJECT_RESTRICTED_REVIEWER']]);
      const id = await readyPicture(house(), projectId);
      const seen = async () => (await restricted.client.projects.get({ params: { id: projectId } })).data.thumbnailUrl;
      expect(await seen()).toBeNull();
      await client().files.update({ params: { id }, body: { allowRestricted: true } });
      expect(await seen()).not.toBeNull();
    });

    test('survive an attempt that stops: the next one is told of them', async () => {
      const id = await newPicture(house());
      const first = await attempt(house(), id);
      await storeRendition(house(), first);
      await sendRendition(house(), first, { kind: 'POSTER', variant: 0 });
      const { data } = await workerOf(house()).startMedia({ params: { id }, body: { epoch: null } });
      expect(data.task.stored).toEqual([THUMBNAIL]);
      await finish(house(), { id, epoch: data.epoch });
      await sweep(house().deps);
      expect((await keysOf(house(), id)).length).toBe(2);
      const uploads = await house()
        .deps.db.selectFrom('uploads')
        .select('id')
        .where('id', 'like', `RN:${id}%`)
        .execute();
      expect(uploads).toEqual([]);
    });

    test('a repeated completion is accepted', async () => {
      const held = await attempt(house(), await newPicture(house()));
      const parts = await sendRendition(house(), held);
      const shape = { width: 1, height: 1, filmstrip: null };
      const body = { epoch: held.epoch, ...THUMBNAIL, parts, ...shape };
      await workerOf(house()).completeRendition({ params: held, body });
      await workerOf(house()).completeRendition({ params: held, body });
      expect((await get(held.id)).renditions).toHaveLength(1);
    });
  });

  describe('deletion', () => {
    test('of a file deletes its renditions and their unfinished uploads', async () => {
      const id = await readyPicture(house());
      await client().files.rebuildMedia({ params: { id } });
      await sendRendition(house(), await attempt(house(), id));
      await deleteForGood(client(), id);
      await sweep(house().deps);
      expect(await keysOf(house(), id)).toEqual([]);
      const rows = await house().deps.db.selectFrom('renditions').select('kind').where('file_id', '=', id).execute();
      expect(rows).toEqual([]);
    });

    test('of a project deletes the renditions of its files', async () => {
      const projectId = await newProject(house().people.owner);
      const id = await readyPicture(house(), projectId);
      expect((await keysOf(house(), id)).length).toBe(2);
      const { db } = house().deps;
      await db.transaction().execute((trx) => setDeletion(trx, projectId, secondsFromNow(-1)));
      await sweep(house().deps);
      expect(await keysOf(house(), id)).toEqual([]);
    });

    test('the storage check knows renditions', async () => {
      await readyPicture(house());
      const settings = { DATABASE_URL: house().databaseUrl, STORAGE_URL: house().deps.config.storageUrl };
      const { damaged } = await reviewJson<{ damaged: { count: number } }>(settings, 'storage', 'check');
      expect(damaged.count).toBe(0);
    });
  });

  test('lists filter by duration and resolution', async () => {
    const projectId = await newProject(house().people.owner);
    const ids: string[] = [];
    for (const [durationMs, height] of [
      [1000, 480],
      [5000, 1080],
      [60_000, 2160],
    ]) {
      const held = await attempt(house(), await newPicture(house(), projectId));
      const facts = { ...FACTS, durationMs: durationMs ?? 0, height: height ?? 0, width: 4000 };
      await workerOf(house()).recordFacts({ params: held, body: { epoch: held.epoch, facts } });
      ids.push(held.id);
    }
    const [short, medium, long] = ids;
    await newPicture(house(), projectId);
    const found = async (body: object) =>
      (await client().files.list({ params: { id: projectId }, body })).data.map(({ id }) => id);
    expect(await found({ duration: { max: 5000 } })).toEqual([medium, short]);
    expect(await found({ duration: { min: 1001 } })).toEqual([long, medium]);
    expect(await found({ resolution: { min: 1080, max: 1080 } })).toEqual([medium]);
    expect(await found({ duration: { min: 1001 }, resolution: { min: 2000 }, keyword: 'still' })).toEqual([long]);
    const byGet = await house().request('owner', 'GET', `/api/projects/${projectId}/files?duration.min=60000`);
    expect(await byGet.json()).toMatchObject({ data: [{ id: long }] });
  });
});
