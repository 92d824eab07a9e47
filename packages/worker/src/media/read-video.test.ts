import { mkdtemp, readFile as readBytes, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FF_ENCODER_AAC, FF_ENCODER_LIBX264, FF_ENCODER_PRORES_KS, type FFVideoEncoder } from 'node-av';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeProxy } from './read-media.ts';
import { type Clip, makeClip, readCounter } from './test/make-clip.ts';
import { readFile } from './test/read-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clips-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function clip(name: string, codec: FFVideoEncoder, options: Clip = {}): Promise<Buffer> {
  const path = join(folder, name);
  await makeClip(path, codec, options);
  return readBytes(path);
}
const read = (bytes: Buffer) => readFile('VIDEO', 'video/mp4', bytes);

test('H.264 with sound has its facts, stills, filmstrip and waveform, and needs no proxy', async () => {
  const sound = { encoder: FF_ENCODER_AAC, format: 'sample_fmts=fltp:channel_layouts=stereo' };
  const bytes = await clip('h264.mp4', FF_ENCODER_LIBX264, { frames: 60, rate: [30_000, 1001], sound });
  const { facts, files, proxies, output, open } = await read(bytes);
  expect(facts).toMatchObject({
    width: 320,
    height: 180,
    frameRate: { numerator: 30_000, denominator: 1001 },
    variableFrameRate: false,
    frameCount: 60,
    videoCodec: 'h264',
    audioCodec: 'aac',
    audioChannels: 2,
    hdr: false,
    placeholder: expect.stringMatching(/^data:image\/webp/),
  });
  expect(facts.durationMs).toBeGreaterThan(1990);
  expect(facts.durationMs).toBeLessThan(2100);
  expect(proxies).toEqual([]);
  expect(files.map(({ kind }) => kind)).toEqual(['THUMBNAIL', 'POSTER', 'FILMSTRIP', 'WAVEFORM']);
  const filmstrip = files[2]?.filmstrip;
  expect(filmstrip).toMatchObject({ rows: 1, intervalMs: 500 });
  expect(await open('filmstrip.webp').metadata()).toMatchObject({ width: (filmstrip?.columns ?? 0) * 160, height: 90 });
  const { peaks } = JSON.parse(await readBytes(join(output, 'waveform.json'), 'utf8'));
  expect(Math.max(...peaks)).toBeGreaterThan(0.4);
  expect(Math.max(...peaks)).toBeLessThan(0.6);
});

test('ProRes needs proxies, whose frame n is frame n of the original at its time', async () => {
  const options: Clip = { frames: 30, rate: [24_000, 1001], pixels: 'yuv422p10le', width: 1280, height: 720 };
  const bytes = await clip('prores.mov', FF_ENCODER_PRORES_KS, options);
  const { facts, proxies, output } = await read(bytes);
  expect(facts).toMatchObject({
    width: 1280,
    videoCodec: 'prores',
    frameCount: 30,
    frameRate: { numerator: 24_000, denominator: 1001 },
    audioCodec: null,
  });
  expect(proxies).toEqual([1080, 540]);
  const content = { kind: 'VIDEO', mimeType: 'video/quicktime', input: join(folder, 'prores.mov'), output } as const;
  const { files } = await makeProxy(content, { height: 540, durationMs: 1000 }, AbortSignal.timeout(100_000));
  expect(files).toMatchObject([{ kind: 'PROXY', variant: 540, mimeType: 'video/mp4', width: 960, height: 540 }]);
  const proxy = join(output, 'proxy-540.mp4');
  expect(await readCounter(proxy)).toEqual(await readCounter(join(folder, 'prores.mov')));
  expect((await readCounter(proxy)).map(({ number }) => number)).toEqual(Array.from({ length: 30 }, (_, n) => n));
  const start = await readBytes(proxy);
  expect(start.indexOf('moov')).toBeLessThan(start.indexOf('mdat'));
});

test('a variable rate is recognised, and a proxy keeps its times', async () => {
  const times = [0, 0.033, 0.066, 0.1, 0.3, 0.32, 0.9, 1.5, 1.52, 2];
  const input = join(folder, 'variable.mp4');
  const bytes = await clip('variable.mp4', FF_ENCODER_LIBX264, { times, rate: [30, 1] });
  const { facts, output } = await read(bytes);
  expect(facts).toMatchObject({ variableFrameRate: true, frameCount: 10 });
  const content = { kind: 'VIDEO', mimeType: 'video/mp4', input, output } as const;
  await makeProxy(content, { height: 540, durationMs: 2000 }, AbortSignal.timeout(100_000));
  expect((await readCounter(join(output, 'proxy-540.mp4'))).map(({ number, ms }) => [number, ms])).toEqual(
    times.map((seconds, number) => [number, Math.round(seconds * 1000)]),
  );
});

test.each([
  ['a playlist', '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n'],
  ['a list of files', "ffconcat version 1.0\nfile '/etc/passwd'\n"],
  ['a remote playlist', '#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:1/a.ts\n#EXT-X-ENDLIST\n'],
  ['a description of a stream', 'v=0\no=- 0 0 IN IP4 127.0.0.1\nm=video 1 RTP/AVP 96\n'],
  ['text', 'not a video'],
])('%s is refused', async (_, text) => {
  await expect(read(Buffer.from(text))).rejects.toMatchObject({ code: 'UNREADABLE' });
});
