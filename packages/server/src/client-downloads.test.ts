import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type DownloadOptions, download, downloadStream, upload } from '@review/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readyPicture, WEBP } from './rooms/media/test/media.ts';
import { eventually } from './test/eventually.ts';
import { onEachDatabase, refusal } from './test/house.ts';

const bytes = new Uint8Array(randomBytes(300_000));

/** Connections that break after a number of bytes; records the requested ranges. */
function breaking(after: number) {
  const ranges: (string | null)[] = [];
  const get: typeof fetch = async (url, init) => {
    ranges.push(new Headers(init?.headers).get('range'));
    const answer = await fetch(url, init);
    const reader = answer.body?.getReader();
    let left = after;
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      if (left <= 0) return controller.error(new TypeError('terminated'));
      const next = await reader?.read();
      if (next === undefined || next.done) return controller.close();
      controller.enqueue(next.value.subarray(0, left));
      left -= next.value.length;
    };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), answer);
  };
  return { fetch: get, ranges };
}

/** The downloads of the typed client out of the real storage. */
onEachDatabase((house) => {
  let id = '';
  let directory = '';
  const client = () => house().people.owner.client;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'review-download-'));
    const to = { project: house().projectId };
    ({ id } = await upload(client(), { to, source: bytes, name: 'clip.bin', mimeType: 'application/x-clip' }));
    await eventually(
      async () => (await client().files.get({ params: { id } })).data.sha256 !== null,
      'the hash is computed',
    );
  });
  afterAll(() => rm(directory, { recursive: true }));
  const to = (name: string, options: DownloadOptions = {}) =>
    download(client(), id, { to: join(directory, name), ...options });

  test('as a Blob, as a stream and to a path', async () => {
    const blob = await download(client(), id);
    expect(blob.type).toBe((await client().files.get({ params: { id } })).data.mimeType);
    expect(new Uint8Array(await blob.arrayBuffer())).toEqual(bytes);
    expect(new Uint8Array(await buffer(await downloadStream(client(), id)))).toEqual(bytes);
    const seen: (number | null)[][] = [];
    await to('plain', { onProgress: (...progress) => void seen.push(progress) });
    expect(new Uint8Array(await readFile(join(directory, 'plain')))).toEqual(bytes);
    expect(seen.at(-1)).toEqual([bytes.length, bytes.length]);
  });

  test('a broken download resumes at the byte where it broke', async () => {
    const line = breaking(100_000);
    const blob = await download(client(), id, { fetch: line.fetch });
    expect(new Uint8Array(await blob.arrayBuffer())).toEqual(bytes);
    expect(line.ranges).toEqual([null, 'bytes=100000-', 'bytes=200000-', ...line.ranges.slice(3)]);
    expect(line.ranges.length).toBeLessThanOrEqual(4);
  });

  test('a broken download to a path is continued by the next one', async () => {
    const broken = breaking(100_000);
    await expect(to('later', { fetch: broken.fetch, retries: 0 })).rejects.toThrow('terminated');
    expect((await readdir(directory)).filter((name) => name.startsWith('later'))).toEqual([`later.${id}.part`]);
    const line = breaking(Number.POSITIVE_INFINITY);
    await to('later', { fetch: line.fetch });
    expect(line.ranges).toEqual(['bytes=100000-']);
    expect(new Uint8Array(await readFile(join(directory, 'later')))).toEqual(bytes);
    expect((await readdir(directory)).filter((name) => name.startsWith('later'))).toEqual(['later']);
  });

  test('bytes with another hash than the file are refused and discarded', async () => {
    await writeFile(join(directory, `damaged.${id}.part`), randomBytes(1000));
    await expect(to('damaged')).rejects.toMatchObject({ name: 'DownloadDamaged' });
    expect((await readdir(directory)).filter((name) => name.startsWith('damaged'))).toEqual([]);
    await writeFile(join(directory, `long.${id}.part`), randomBytes(bytes.length + 1));
    await expect(to('long')).rejects.toThrow('Received 300001 bytes, expected 300000');
    const cut: typeof fetch = async (...request) => new Response((await (await fetch(...request)).blob()).slice(1));
    await expect(download(client(), id, { fetch: cut })).rejects.toMatchObject({ name: 'DownloadDamaged' });
  });

  test('comment attachments can be downloaded too', async () => {
    const { id: attachment } = await upload(client(), {
      to: { project: house().projectId, kind: 'comment' },
      source: new File(['look'], 'a.txt'),
    });
    await client().comments.create({ params: { id: house().projectId }, body: { attachments: [{ id: attachment }] } });
    expect(await (await download(client(), attachment)).text()).toBe('look');
  });

  test('a credential with the download scope only downloads without a hash check', async () => {
    const { client: only } = await house().withScopes('owner', ['files:download']);
    expect((await download(only, id)).size).toBe(bytes.length);
  });

  test('a rendition can be downloaded instead, without the scope for the content', async () => {
    const picture = await readyPicture(house());
    const { client: reader } = await house().withScopes('owner', ['files:read']);
    const blob = await download(reader, picture, { rendition: 'thumbnail' });
    expect([blob.type, Buffer.from(await blob.arrayBuffer())]).toEqual(['image/webp', WEBP]);
    await download(reader, picture, { rendition: 'thumbnail', to: join(directory, 'thumbnail') });
    expect(await readFile(join(directory, 'thumbnail'))).toEqual(WEBP);
    await expect(download(reader, picture, { rendition: 'proxy' })).rejects.toThrow('has no proxy; its media is READY');
  });

  test('a missing file is refused, and an aborted download ends', async () => {
    await refusal(download(client(), 'FX00000000000000000000'), 'NOT_FOUND');
    const leaving = new AbortController();
    const call = to('aborted', { signal: leaving.signal, onProgress: () => leaving.abort(new Error('enough')) });
    await expect(call).rejects.toThrow('enough');
  });
});
