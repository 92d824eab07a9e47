import { describe, expect, test } from 'vitest';
import { sweep } from '../../sweeper.ts';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { review, reviewJson } from '../../test/review.ts';
import { finish as finishGeneration, held, NO_LIMITS, storeResult, workerOf } from '../generation/test/generations.ts';
import { upload, uploadFile } from '../uploads/test/uploads.ts';
import { attempt, finish, keysOf, newPicture, readyPicture, storeRendition, THUMBNAIL } from './test/media.ts';

const PDF = Buffer.from('%PDF-1.7\n%%EOF\n');

onEachDatabase((house) => {
  const client = () => house().people.owner.client;
  const get = async (id: string) => (await client().files.get({ params: { id } })).data;

  test('the first reading continues the trace of the generation; an upload and later readings have none to continue', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const { db } = house().deps;
    const traceOf = async (id: string) => {
      const { data } = await workerOf(house()).startMedia({ params: { id }, body: { epoch: null } });
      return data.task.traceparent;
    };
    const generated = async (trace: string | null) => {
      const task = await held(house(), { outputModel: 'pdf' });
      await db.updateTable('generations').set({ traceparent: trace }).where('file_id', '=', task.id).execute();
      await storeResult(house(), task, PDF);
      await finishGeneration(house(), task);
      return task.id;
    };
    const id = await generated(traceparent);
    // A second attempt at the first reading, too.
    expect([await traceOf(id), await traceOf(id)]).toEqual([traceparent, traceparent]);
    expect(await traceOf(await generated(null))).toBeUndefined();
    expect(await traceOf(await newPicture(house()))).toBeUndefined();
    await client().files.rebuildMedia({ params: { id }, body: { pages: [1] } });
    expect(await traceOf(id)).toBeUndefined();
    await client().files.rebuildMedia({ params: { id } });
    expect(await traceOf(id)).toBeUndefined();
  });

  describe('a rebuild', () => {
    const rebuild = (id: string) => client().files.rebuildMedia({ params: { id } });

    test('keeps the renditions until it ends, and deletes those that it does not replace', async () => {
      const id = await readyPicture(house());
      const before = await get(id);
      await rebuild(id);
      expect(await get(id)).toEqual({ ...before, media: { ...before.media, status: 'PENDING' } });
      const poster = await attempt(house(), id);
      await storeRendition(house(), poster, { kind: 'POSTER', variant: 0 });
      await finish(house(), poster);
      const after = await get(id);
      expect([after.thumbnailUrl, after.renditions.map(({ kind }) => kind)]).toEqual([null, ['POSTER']]);
      await sweep(house().deps);
      expect((await keysOf(house(), id)).length).toBe(2);
    });

    test('makes pictures of pages of a PDF, and keeps everything else', async () => {
      const id = await upload(client(), 'FX', house().projectId, PDF, { name: 'script.pdf' });
      const first = await attempt(house(), id);
      await storeRendition(house(), first);
      await finish(house(), first);
      const pagesOf = async () => {
        const { data } = await workerOf(house()).startMedia({ params: { id }, body: { epoch: null } });
        return { epoch: data.epoch, ...data.task };
      };
      await client().files.rebuildMedia({ params: { id }, body: { pages: [2, 1, 2] } });
      const task = await pagesOf();
      expect([task.pages, task.stored]).toEqual([[2, 1], [THUMBNAIL]]);
      await storeRendition(house(), { id, epoch: task.epoch }, { kind: 'PAGE', variant: 2 });
      await finish(house(), { id, epoch: task.epoch });
      const { media, renditions } = await get(id);
      expect(media).toMatchObject({ status: 'READY', kind: 'DOCUMENT' });
      expect(renditions).toMatchObject([
        { kind: 'PAGE', page: 2, mimeType: 'image/webp' },
        { kind: 'THUMBNAIL', page: null },
      ]);
      await client().files.rebuildMedia({ params: { id }, body: { pages: [3] } });
      expect((await pagesOf()).pages).toEqual([2, 1, 3]);
      await client().files.rebuildMedia({ params: { id } });
      expect((await pagesOf()).pages).toEqual([]);
    });

    test('of pages does nothing for what has none, and takes 20 pages at once', async () => {
      const id = await readyPicture(house());
      await client().files.rebuildMedia({ params: { id }, body: { pages: [1] } });
      expect((await get(id)).media?.status).toBe('READY');
      for (const pages of [[], [0], Array.from({ length: 21 }, (_, index) => index + 1)]) {
        await refusal(client().files.rebuildMedia({ params: { id }, body: { pages } }), 'INVALID_REQUEST');
      }
    });

    test('fences off a worker that reads the file', async () => {
      const held = await attempt(house(), await newPicture(house()));
      await rebuild(held.id);
      await refusal(finish(house(), held), 'NOT_FOUND');
    });

    test('needs complete content, and does nothing for what is not media', async () => {
      const { data } = await client().files.startUpload({
        params: { id: house().projectId },
        body: { name: 'a.png', size: 10 },
      });
      await refusal(rebuild(data.id), 'FILE_NOT_READY');
      const text = await uploadFile(house(), Buffer.from('# Cut 3'));
      await rebuild(text);
      expect((await get(text)).media).toBeNull();
    });

    test('can be started by command', async () => {
      const settings = { DATABASE_URL: house().databaseUrl };
      const [ready, failed, partial, missing] = [
        await readyPicture(house()),
        await newPicture(house()),
        await newPicture(house()),
        await newPicture(house()),
      ];
      const error = { code: 'NO_DECODER', message: 'No decoder.' } as const;
      for (const [id, status] of [
        [failed, 'FAILED'],
        [partial, 'READY'],
      ] as const) {
        const held = await attempt(house(), id);
        await workerOf(house()).finishMedia({ params: held, body: { epoch: held.epoch, error, status } });
      }
      await house().deps.db.deleteFrom('media').where('file_id', '=', missing).execute();
      const statuses = async () =>
        Promise.all([ready, failed, partial, missing].map(async (id) => (await get(id)).media?.status ?? null));
      expect(await statuses()).toEqual(['READY', 'FAILED', 'READY', null]);
      expect(await reviewJson(settings, 'media', 'rebuild')).toEqual({ queued: 1 });
      expect(await statuses()).toEqual(['READY', 'FAILED', 'READY', 'PENDING']);
      await reviewJson(settings, 'media', 'rebuild', '--failed');
      expect(await statuses()).toEqual(['READY', 'PENDING', 'PENDING', 'PENDING']);
      expect(await reviewJson(settings, 'media', 'rebuild', ready)).toEqual({ queued: 1 });
      expect(await statuses()).toEqual(['PENDING', 'PENDING', 'PENDING', 'PENDING']);
      const refused = await review(settings, 'media', 'rebuild', ready, '--all');
      expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('only one of')]);
    });
  });
}, NO_LIMITS);
