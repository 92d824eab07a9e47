import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { upload } from '@review/client';
import { expect, test } from 'vitest';
import { FFMPEG, lacksFfmpeg } from '../packages/worker/src/media/test/decoders.ts';
import { makeClip, PRORES } from '../packages/worker/src/media/test/make-clip.ts';
import { until } from './processes.ts';
import { Service } from './service.ts';

/** Makes an `ffmpeg` and an `ffprobe` that run those of the host and log each call. */
async function recordFfmpeg(folder: string): Promise<{ path: string; used: () => Promise<string> }> {
  const log = join(folder, 'used.txt');
  await mkdir(folder);
  for (const name of ['ffmpeg', 'ffprobe']) {
    const path = join(folder, name);
    const program = join(dirname(FFMPEG ?? ''), name);
    await writeFile(path, `#!/bin/sh\necho ${name} "$@" >> '${log}'\nexec '${program}' "$@"\n`);
    await chmod(path, 0o755);
  }
  return { path: join(folder, 'ffmpeg'), used: () => readFile(log, 'utf8') };
}

test.skipIf(lacksFfmpeg)('a worker with the FFmpeg of the host makes facts, poster, filmstrip and proxy', async () => {
  await using service = await Service.start();
  const { path: FFMPEG_PATH, used } = await recordFfmpeg(join(service.folder, 'ffmpeg'));
  await service.startWorker('with-ffmpeg', { FFMPEG_PATH });
  const clip = join(service.folder, 'clip.mov');
  await makeClip(clip, PRORES, { rate: [24_000, 1001], frames: 24, pixels: 'yuv422p10le' });
  const source = new Uint8Array(await readFile(clip));
  const { id } = await upload(service.client, { to: { project: service.projectId }, source, name: 'clip.mov' });
  const look = async () => {
    const { data } = await service.client.files.get({ params: { id } });
    return data.media?.status !== 'PENDING' && data;
  };
  const { media, renditions, thumbnailUrl } = await until('the media is read', look, 90_000);

  expect(media).toMatchObject({
    status: 'READY',
    error: null,
    kind: 'VIDEO',
    durationMs: 1001,
    width: 320,
    height: 180,
    frameRate: { numerator: 24_000, denominator: 1001 },
    frameCount: 24,
    videoCodec: 'prores',
    audioCodec: null,
  });
  expect(renditions.map(({ kind, mimeType }) => [kind, mimeType])).toEqual([
    ['FILMSTRIP', 'image/webp'],
    ['POSTER', 'image/webp'],
    ['PROXY', 'video/mp4'],
    ['THUMBNAIL', 'image/webp'],
  ]);
  for (const { mimeType, size, url } of renditions) {
    const content = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect(content).toHaveLength(size);
    const [at, mark] = mimeType === 'video/mp4' ? [4, 'ftyp'] : [8, 'WEBP'];
    expect(content.toString('latin1', at, at + 4)).toBe(mark);
  }
  expect(renditions.find(({ kind }) => kind === 'THUMBNAIL')?.url).toBe(thumbnailUrl);
  expect(await used()).toMatch(/^ffprobe .*\/input$/m);
  expect(await used()).toMatch(/^ffmpeg .*libx264.*proxy-/m);
});
