import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type UploadOptions, type UploadState, upload } from '@review/client';
import { describe, expect, test } from 'vitest';
import { newFolder, sha256, storedBytes } from './rooms/uploads/test/uploads.ts';
import { onEachDatabase, refusal } from './test/house.ts';

const bytes = new Uint8Array(randomBytes(10_500));
const PARTS = 10;

/** Breaks some connections to the storage after the bytes have arrived. */
function shaky(breaks: (call: number) => boolean) {
  let calls = 0;
  const send: typeof fetch = async (...request) => {
    const call = ++calls;
    const answer = await fetch(...request);
    if (!breaks(call)) return answer;
    await answer.body?.cancel();
    throw new TypeError('fetch failed');
  };
  return { fetch: send, calls: () => calls };
}

async function* pieces(of: Uint8Array, size: number) {
  for (let from = 0; from < of.length; from += size) yield of.subarray(from, from + size);
}

/** The uploads of the typed client into the real storage. */
onEachDatabase(
  (house) => {
    const send = (options: Partial<UploadOptions> = {}) =>
      upload(house().people.owner.client, { to: { project: house().projectId }, source: bytes, ...options });
    const expectStored = async (id: string, expected: Uint8Array = bytes) =>
      expect(sha256(await storedBytes(house(), id))).toBe(sha256(expected));
    const fileOf = async (id: string) => (await house().people.owner.client.files.get({ params: { id } })).data;

    describe('from', () => {
      test('bytes, with a name, a type and a folder', async () => {
        const folder = { id: await newFolder(house()) };
        const { id } = await send({ name: 'cut.bin', folder });
        expect(await fileOf(id)).toMatchObject({ name: 'cut.bin', status: 'UPLOADED', size: bytes.length, folder });
        await expectStored(id);
      });

      test('a path, whose name it takes', async () => {
        const directory = await mkdtemp(join(tmpdir(), 'review-upload-'));
        await writeFile(join(directory, 'board.bin'), bytes);
        const { id } = await send({ source: join(directory, 'board.bin') });
        expect((await fileOf(id)).name).toBe('board.bin');
        await expectStored(id);
        await rm(directory, { recursive: true });
        await expect(send({ source: join(directory, 'board.bin') })).rejects.toMatchObject({ code: 'ENOENT' });
      });

      test('a File, whose name and type it takes', async () => {
        const { id } = await send({ source: new File(['# Notes'], 'notes.md', { type: 'text/markdown' }) });
        expect(await fileOf(id)).toMatchObject({ name: 'notes.md', mimeType: 'text/markdown' });
      });

      test.each([
        ['a stream', () => new Blob([bytes]).stream()],
        ['anything that can be iterated, in crumbs', () => pieces(bytes, 77)],
      ])('%s of a known size', async (_, source) => {
        const { id } = await send({ source: source(), size: bytes.length });
        await expectStored(id);
      });

      test('a stream that is longer or shorter than its size is refused', async () => {
        await expect(send({ source: pieces(bytes, 500) })).rejects.toThrow('set `size`');
        await expect(send({ source: pieces(bytes, 500), size: 9000 })).rejects.toThrow('more bytes than its `size`');
        await expect(send({ source: pieces(bytes, 500), size: 11_000 })).rejects.toThrow('ended after 10500 bytes');
        const { data } = await house().people.owner.client.files.list({
          params: { id: house().projectId },
          body: { status: 'UPLOADED' },
        });
        expect(data.filter(({ size }) => size === 9000 || size === 11_000)).toEqual([]);
      });
    });

    test('to a generation and to comments on a project and a file', async () => {
      const { projectId: project, people } = house();
      const { id: file } = await send();
      const kinds = { GA: { project, kind: 'generation' }, CA: { project, kind: 'comment' } } as const;
      for (const [prefix, to] of Object.entries(kinds)) {
        const { id } = await send({ to });
        expect(id.slice(0, 2)).toBe(prefix);
        await expectStored(id);
      }
      const { id } = await send({ to: { file, kind: 'comment' } });
      await people.owner.client.comments.createOnFile({ params: { id: file }, body: { attachments: [{ id }] } });
    });

    test('parts are sent with the requested concurrency and report progress', async () => {
      let [now, most] = [0, 0];
      const seen: number[] = [];
      await send({
        parallel: 3,
        onProgress: (sent, total) => void seen.push(sent / total),
        fetch: async (...request) => {
          most = Math.max(most, ++now);
          return fetch(...request).finally(() => now--);
        },
      });
      expect(most).toBe(3);
      expect(seen).toHaveLength(PARTS + 1);
      expect(seen[0]).toBe(0);
      expect(seen.at(-1)).toBe(1);
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    });

    test('states are reported in order, the latest last', async () => {
      let telling = 0;
      const told: number[] = [];
      await send({
        onState: async ({ parts }) => {
          expect(++telling).toBe(1);
          await new Promise(setImmediate);
          told.push(parts.length);
          telling -= 1;
        },
      });
      expect(told).toEqual([0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    });

    test('only the part whose response was lost is sent again', async () => {
      const line = shaky((call) => call % 4 === 0);
      const { id } = await send({ fetch: line.fetch });
      await expectStored(id);
      expect(line.calls()).toBe(13);
    });

    test('a refused part ends the upload and the parts in flight', async () => {
      let calls = 0;
      const refuse: typeof fetch = async (url, init) => {
        calls += 1;
        return fetch(String(url).replace('signature=', 'signature=x'), init);
      };
      await refusal(send({ fetch: refuse, parallel: 2 }), 'INVALID_SIGNATURE');
      expect(calls).toBeLessThanOrEqual(2);
    });

    describe('resumed', () => {
      const leftAfter = async (parts: number, options: Partial<UploadOptions> = {}): Promise<UploadState> => {
        let kept: string | undefined;
        const line = shaky((call) => call > parts);
        const failed = send({
          ...options,
          fetch: line.fetch,
          retries: 0,
          parallel: 1,
          onState: (state) => {
            kept = JSON.stringify(state);
          },
        });
        await expect(failed).rejects.toThrow('fetch failed');
        return JSON.parse(kept ?? '');
      };

      test('it continues the same file after the parts that have arrived', async () => {
        const resume = await leftAfter(6);
        expect(resume.parts).toHaveLength(6);
        expect(JSON.stringify(resume)).not.toContain('http');
        const line = shaky(() => false);
        const { id } = await send({ resume, fetch: line.fetch });
        expect(line.calls()).toBe(4);
        expect(id).toBe(resume.id);
        await expectStored(id);
      });

      test('the arrived bytes of a stream are skipped', async () => {
        const resume = await leftAfter(6);
        const line = shaky(() => false);
        const { id } = await send({ resume, fetch: line.fetch, source: pieces(bytes, 333), size: bytes.length });
        expect(line.calls()).toBe(4);
        await expectStored(id);
      });

      test('a state from before the first response starts the same upload, not a second one', async () => {
        const state = await leftAfter(0);
        const resume = { ...state, id: null };
        expect(await send({ resume })).toEqual({ id: state.id });
      });

      test('a completed upload stays complete', async () => {
        const states: UploadState[] = [];
        const { id } = await send({ onState: (state) => void states.push(state) });
        expect(states[0]).toMatchObject({ id: null, parts: [] });
        const resume = states.at(-1);
        expect(await send({ ...(resume && { resume }) })).toEqual({ id });
      });

      test('an upload that the service has deleted starts over', async () => {
        const resume = await leftAfter(6);
        const { id } = await send({ resume: { ...resume, key: 'another' } });
        expect(id).not.toBe(resume.id);
        await expectStored(id);
      });

      test('other bytes are refused', async () => {
        const resume = await leftAfter(1);
        await expect(send({ resume, source: bytes.slice(1) })).rejects.toThrow(
          'has 10500 bytes, but the source has 10499',
        );
      });
    });

    test.each([true, false])(
      'an aborted upload is canceled on the service if cancelOnAbort is %s',
      async (cancelOnAbort) => {
        const leaving = new AbortController();
        let id = '';
        const call = send({
          cancelOnAbort,
          signal: leaving.signal,
          onState: (state) => {
            id = state.id ?? '';
            if (state.parts.length === 2) leaving.abort(new Error('never mind'));
          },
        });
        await expect(call).rejects.toThrow('never mind');
        expect((await fileOf(id)).status).toBe(cancelOnAbort ? 'CANCELED' : 'UPLOADING');
      },
    );
  },
  { UPLOAD_PART_SIZE: '1000' },
);
