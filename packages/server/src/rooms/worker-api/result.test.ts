import { expect, test, vi } from 'vitest';
import { sweep } from '../../sweeper.ts';
import { onEachDatabase, refusal } from '../../test/house.ts';
import {
  BROKEN,
  fail,
  fileOf,
  finish,
  type Held,
  held,
  NO_LIMITS,
  PICTURE,
  PNG,
  reserveSubmit,
  sendResult,
  stored,
  storeResult,
  takeOver,
  workerOf,
} from '../generation/test/generations.ts';
import { type Part, putParts, sha256 } from '../uploads/test/uploads.ts';

const TEXT = Buffer.from('# Tides\n\nThey come and go.');

onEachDatabase(
  (house) => {
    const complete = ({ id, epoch }: Held, parts: Part[], hash: string) =>
      workerOf(house()).completeUpload({ params: { id }, body: { epoch, parts, sha256: hash } });
    const start = ({ id, epoch }: Held, size: number) =>
      workerOf(house()).startUpload({ params: { id }, body: { epoch, size } });
    const exists = (key: string) =>
      house()
        .deps.storage.read(key)
        .then(
          (stream) => {
            stream.destroy();
            return true;
          },
          () => false,
        );
    const keyOf = async (id: string) => (await stored(house(), id)).upload?.storage_key ?? '';
    const resultOf = async (id: string) => (await stored(house(), id)).generation?.result;

    test('a completion does not count for an upload that replaced its own meanwhile', async () => {
      const task = await held(house());
      const parts = await sendResult(house(), task, TEXT);
      const { storage } = house().deps;
      const make = storage.complete.bind(storage);
      using completed = vi.spyOn(storage, 'complete').mockImplementationOnce(async (...target) => {
        const outcome = await make(...target);
        await start(task, TEXT.length);
        return outcome;
      });
      await refusal(complete(task, parts, sha256(TEXT)), 'UPLOAD_COMPLETED');
      expect(completed).toHaveBeenCalledOnce();
      expect((await stored(house(), task.id)).upload?.completed_with).toBeNull();
      await storeResult(house(), task, TEXT);
      expect(await resultOf(task.id)).not.toBeNull();
    });

    test('the part URLs have the address that the worker called, and need no credential', async () => {
      const task = await held(house());
      const port = new URL(house().url).port;
      const response = await fetch(`http://localhost:${port}/worker/tasks/${task.id}/upload.multipart`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${house().deps.config.workerToken}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ epoch: task.epoch, size: TEXT.length }),
      });
      const { data } = (await response.json()) as {
        data: { parts: { partNumber: number; size: number; url: string }[] };
      };
      expect(data.parts.length).toBeGreaterThan(1);
      for (const { url } of data.parts) expect(new URL(url).host).toBe(`localhost:${port}`);
      const parts = await putParts({ id: task.id, parts: data.parts, expiresAt: '' }, TEXT);
      await complete(task, parts, sha256(TEXT));
      await finish(house(), task);
    });

    test('after success the file has its content, and the download serves it', async () => {
      const task = await held(house(), PICTURE);
      await reserveSubmit(house(), task);
      await storeResult(house(), task, PNG);
      expect(await fileOf(house(), task.id)).toMatchObject({ status: 'GENERATING', size: null, sha256: null });
      await finish(house(), task, ['The picture is small.']);
      expect(await fileOf(house(), task.id)).toMatchObject({
        status: 'UPLOADED',
        mimeType: 'image/png',
        size: PNG.length,
        sha256: sha256(PNG),
        generation: {
          status: 'SUCCEEDED',
          progress: 1,
          error: null,
          warnings: ['The picture is small.'],
          finishedAt: expect.stringMatching(/^\d{4}-/),
        },
      });
      const { data } = await house().people.reviewer.client.files.download({ params: { id: task.id } });
      const served = await fetch(data.url);
      expect(Buffer.from(await served.arrayBuffer())).toEqual(PNG);
      await sweep(house().deps);
      expect((await fetch(data.url)).status).toBe(200);
      expect((await stored(house(), task.id)).upload).toBeUndefined();
    });

    test('a Markdown result is text/markdown', async () => {
      const task = await held(house());
      await storeResult(house(), task, TEXT);
      await finish(house(), task);
      expect((await fileOf(house(), task.id)).mimeType).toBe('text/markdown');
    });

    test('content with another hash is 422 and is not stored as the result', async () => {
      const task = await held(house());
      const parts = await sendResult(house(), task, TEXT);
      await refusal(complete(task, parts, sha256(Buffer.from('other'))), 'PARTS_MISMATCH');
      expect(await resultOf(task.id)).toBeNull();
      await refusal(finish(house(), task), 'FILE_NOT_READY');
      await refusal(complete(task, parts, sha256(Buffer.from('other'))), 'PARTS_MISMATCH');
      const key = await keyOf(task.id);
      await fail(house(), task);
      await sweep(house().deps);
      expect(await exists(key)).toBe(false);
    });

    test.each([
      ['HTML', 'an image', PICTURE, Buffer.from('<!doctype html><html><body>Error</body></html>')],
      ['text', 'an image', PICTURE, Buffer.from('{"error":"try again"}')],
      ['SVG', 'an image', PICTURE, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>')],
      ['a PNG', 'a page', {}, PNG],
      ['a PNG', 'a film', { outputType: 'VIDEO', outputModel: 'seedance-2.5' } as const, PNG],
    ])('%s for %s is 422', async (_, __, asked, bytes) => {
      const task = await held(house(), asked);
      const parts = await sendResult(house(), task, bytes);
      await refusal(complete(task, parts, sha256(bytes)), 'PARTS_MISMATCH');
      expect(await resultOf(task.id)).toBeNull();
    });

    test('wrong, missing and repeated parts are 422', async () => {
      const task = await held(house());
      const parts = await sendResult(house(), task, TEXT);
      const wrong = parts.map((part) => ({ ...part, eTag: 'f'.repeat(32) }));
      for (const named of [wrong, parts.slice(1), [...parts.slice(1), parts[1] ?? { partNumber: 2, eTag: 'x' }]]) {
        await refusal(complete(task, named, sha256(TEXT)), 'PARTS_MISMATCH');
      }
      await complete(task, parts, sha256(TEXT));
    });

    test('completing is idempotent', async () => {
      const task = await held(house());
      const parts = await sendResult(house(), task, TEXT);
      await Promise.all([complete(task, parts, sha256(TEXT)), complete(task, parts, sha256(TEXT))]);
      const before = await stored(house(), task.id);
      await complete(task, parts, sha256(TEXT));
      expect(await stored(house(), task.id)).toEqual(before);
    });

    test('starting again deletes the former upload and its blob', async () => {
      const task = await held(house());
      await sendResult(house(), task, TEXT);
      const former = await keyOf(task.id);
      const parts = await sendResult(house(), task, PNG);
      expect(await keyOf(task.id)).not.toBe(former);
      await sweep(house().deps);
      expect(await exists(former)).toBe(false);
      await refusal(complete(task, parts, sha256(PNG)), 'PARTS_MISMATCH');
      await storeResult(house(), task, TEXT);
      await finish(house(), task);
    });

    test('starting again after the result was stored discards that result', async () => {
      const task = await held(house());
      await storeResult(house(), task, TEXT);
      const next = await takeOver(house(), task);
      await start(next, 5);
      expect(await resultOf(task.id)).toBeNull();
      await refusal(finish(house(), next), 'FILE_NOT_READY');
      const other = Buffer.from('# Other');
      await storeResult(house(), next, other);
      await finish(house(), next);
      await sweep(house().deps);
      const { data } = await house().people.owner.client.files.download({ params: { id: task.id } });
      expect(await (await fetch(data.url)).text()).toBe('# Other');
    });

    test('the next epoch sees the stored result and can finish with it', async () => {
      const task = await held(house());
      await storeResult(house(), task, TEXT);
      const next = await takeOver(house(), task);
      const { data } = await workerOf(house()).getTask({ params: { id: next.id }, query: { epoch: next.epoch } });
      expect(data.stored).toBe(true);
      await finish(house(), next);
      expect((await fileOf(house(), task.id)).sha256).toBe(sha256(TEXT));
    });

    test('finishing with success without a result is 409, and the generation keeps running', async () => {
      const task = await held(house());
      await refusal(finish(house(), task), 'FILE_NOT_READY');
      await sendResult(house(), task, TEXT);
      await refusal(finish(house(), task), 'FILE_NOT_READY');
      expect((await fileOf(house(), task.id)).status).toBe('GENERATING');
    });

    test('after failure, error and warnings are stored and the blob is deleted', async () => {
      const task = await held(house());
      await reserveSubmit(house(), task);
      await storeResult(house(), task, TEXT);
      const key = await keyOf(task.id);
      await fail(house(), task, ['It was slow.']);
      expect(await fileOf(house(), task.id)).toMatchObject({
        status: 'FAILED',
        size: null,
        sha256: null,
        generation: { status: 'FAILED', error: BROKEN, warnings: ['It was slow.'] },
      });
      await refusal(house().people.owner.client.files.download({ params: { id: task.id } }), 'FILE_NOT_READY');
      expect(await exists(key)).toBe(true);
      await sweep(house().deps);
      expect([await exists(key), (await stored(house(), task.id)).pendingDeletions]).toEqual([false, []]);
    });
  },
  { ...NO_LIMITS, UPLOAD_PART_SIZE: '8' },
);
