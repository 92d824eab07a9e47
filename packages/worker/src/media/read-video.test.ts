import { mkdtemp, readFile as readBytes, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FF_ENCODER_AAC, FF_ENCODER_LIBX264, FF_ENCODER_PRORES_KS, type FFVideoEncoder } from 'node-av';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withEachDecoder } from './test/decoders.ts';
import { type Clip, makeClip, readCounter } from './test/make-clip.ts';
import { readFile } from './test/read-file.ts';

const AAC = { encoder: FF_ENCODER_AAC, format: 'sample_fmts=fltp:channel_layouts=stereo' };
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
withEachDecoder((decoder) => {
  const read = (bytes: Buffer) => readFile('VIDEO', 'video/mp4', bytes, { decoder });

  test('H.264 with sound has its facts, stills, filmstrip and waveform, and needs no proxy', async () => {
    const bytes = await clip('h264.mp4', FF_ENCODER_LIBX264, { frames: 60, rate: [30_000, 1001], sound: AAC });
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
    expect(await open('filmstrip.webp').metadata()).toMatchObject({
      width: (filmstrip?.columns ?? 0) * 160,
      height: 90,
    });
    const { peaks } = JSON.parse(await readBytes(join(output, 'waveform.json'), 'utf8'));
    expect(Math.max(...peaks)).toBeGreaterThan(0.4);
    expect(Math.max(...peaks)).toBeLessThan(0.6);
  });

  test('a variable rate is recognised, and a proxy keeps its times', async () => {
    const times = [0, 0.033, 0.066, 0.1, 0.3, 0.32, 0.9, 1.5, 1.52, 2];
    const bytes = await clip('variable.mp4', FF_ENCODER_LIBX264, { times, rate: [30, 1] });
    const { facts, proxy } = await read(bytes);
    expect(facts).toMatchObject({ variableFrameRate: true, frameCount: 10 });
    const { path } = await proxy(540);
    expect((await readCounter(path)).map(({ number, ms }) => [number, ms])).toEqual(
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
});

describe('without a decoder', () => {
  const read = (bytes: Buffer) => readFile('VIDEO', 'video/mp4', bytes, { decoder: { name: 'none' } });

  test.each<[string, FFVideoEncoder, Clip]>([
    ['facts.mp4', FF_ENCODER_LIBX264, { rate: [30_000, 1001], sound: AAC }],
    ['facts.mov', FF_ENCODER_PRORES_KS, { rate: [24_000, 1001], pixels: 'yuv422p10le' }],
    ['facts.mkv', FF_ENCODER_LIBX264, { rate: [24, 1] }],
    ['turned.mp4', FF_ENCODER_LIBX264, { turn: 90 }],
  ])('%s has the facts that a decoder finds, and a reason why it has no pictures', async (name, codec, options) => {
    const bytes = await clip(name, codec, options);
    const { facts, files, proxies = [], incomplete } = await read(bytes);
    const decoded = await readFile('VIDEO', 'video/mp4', bytes);
    expect(facts).toEqual({ ...decoded.facts, placeholder: null });
    expect([files, proxies]).toEqual([[], []]);
    expect(incomplete).toEqual({ code: 'NO_DECODER', message: expect.stringContaining('FFMPEG_PATH') });
  });

  test.each([
    ['a playlist', '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n', 'NO_DECODER'],
    ['an AVI', 'RIFF\x24\0\0\0AVI LIST', 'NO_DECODER'],
    ['text', 'not a video'.repeat(100), 'NO_DECODER'],
    ['an empty file', '', 'UNREADABLE'],
    ['an MP4 without tracks', '\0\0\0\x18ftypmp42\0\0\0\0mp42isom\0\0', 'NO_DECODER'],
  ])('%s is refused', async (_, text, code) => {
    await expect(read(Buffer.from(text, 'latin1'))).rejects.toMatchObject({ code });
  });
});
