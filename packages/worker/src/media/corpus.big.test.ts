import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile as readBytes, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Document, NodeIO } from '@gltf-transform/core';
import type { Filmstrip, MediaFacts } from '@review/contract';
import {
  FF_ENCODER_AAC,
  FF_ENCODER_AC3,
  FF_ENCODER_DNXHD,
  FF_ENCODER_LIBOPUS,
  FF_ENCODER_LIBSVTAV1,
  FF_ENCODER_LIBVPX_VP9,
  FF_ENCODER_LIBX264,
  FF_ENCODER_LIBX265,
  FF_ENCODER_MPEG2VIDEO,
  FF_ENCODER_MPEG4,
  FF_ENCODER_PCM_S16LE,
  FF_ENCODER_PRORES_KS,
  FF_ENCODER_WMV2,
  type FFVideoEncoder,
} from 'node-av';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { AvFile } from './av-file.ts';
import type { Decoder } from './read-order.ts';
import { FFMPEG, lacksFfmpeg, withEachDecoder } from './test/decoders.ts';
import { type Clip, makeClip, readCounter } from './test/make-clip.ts';
import { readFile } from './test/read-file.ts';

vi.setConfig({ testTimeout: 300_000 });
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corpus-'));
});
afterAll(() => rm(folder, { recursive: true }));

interface Video {
  name: string;
  codec: FFVideoEncoder;
  clip?: Clip;
  facts: Partial<MediaFacts>;
  /** Browsers cannot play it. */
  needsProxy: boolean;
}

const rate = (numerator: number, denominator = 1) => ({ frameRate: { numerator, denominator } });
const colours = (transfer: string) => `setparams=color_primaries=bt2020:color_trc=${transfer}:colorspace=bt2020nc`;
const X265 = { 'x265-params': 'log-level=none:pools=1:frame-threads=1', preset: 'ultrafast' };
const SIZE = { width: 320, height: 180 };
const AAC = { encoder: FF_ENCODER_AAC, format: 'sample_fmts=fltp:channel_layouts=stereo' };

const VIDEOS: Video[] = [
  {
    name: 'h264.mp4',
    codec: FF_ENCODER_LIBX264,
    clip: { sound: AAC },
    facts: { ...SIZE, ...rate(25), videoCodec: 'h264', audioCodec: 'aac', audioChannels: 2, hdr: false },
    needsProxy: false,
  },
  {
    name: 'hevc-10-bit.mp4',
    codec: FF_ENCODER_LIBX265,
    clip: { pixels: 'yuv420p10le', options: X265 },
    facts: { ...SIZE, ...rate(25), videoCodec: 'hevc', hdr: false, audioCodec: null, audioChannels: null },
    needsProxy: true,
  },
  {
    name: 'hevc.mov',
    codec: FF_ENCODER_LIBX265,
    clip: { options: X265, sound: AAC, rate: [60_000, 1001] },
    facts: { ...SIZE, ...rate(60_000, 1001), videoCodec: 'hevc', audioCodec: 'aac' },
    needsProxy: true,
  },
  {
    name: 'hdr-pq.mp4',
    codec: FF_ENCODER_LIBX265,
    clip: { pixels: 'yuv420p10le', options: X265, filter: colours('smpte2084') },
    facts: { ...SIZE, videoCodec: 'hevc', hdr: true },
    needsProxy: true,
  },
  {
    name: 'hdr-hlg.mp4',
    codec: FF_ENCODER_LIBX265,
    clip: { pixels: 'yuv420p10le', options: X265, filter: colours('arib-std-b67') },
    facts: { ...SIZE, videoCodec: 'hevc', hdr: true },
    needsProxy: true,
  },
  {
    name: 'prores-23976.mov',
    codec: FF_ENCODER_PRORES_KS,
    clip: { pixels: 'yuv422p10le', rate: [24_000, 1001] },
    facts: { ...SIZE, ...rate(24_000, 1001), videoCodec: 'prores' },
    needsProxy: true,
  },
  {
    name: 'vp9.webm',
    codec: FF_ENCODER_LIBVPX_VP9,
    clip: {
      options: { deadline: 'realtime', 'cpu-used': '8' },
      sound: { encoder: FF_ENCODER_LIBOPUS, format: 'sample_fmts=flt:channel_layouts=stereo' },
    },
    facts: { ...SIZE, ...rate(25), videoCodec: 'vp9', audioCodec: 'opus' },
    needsProxy: false,
  },
  {
    name: 'av1.mp4',
    codec: FF_ENCODER_LIBSVTAV1,
    clip: { options: { preset: '12' } },
    facts: { ...SIZE, ...rate(25), videoCodec: 'av1' },
    needsProxy: false,
  },
  {
    name: 'dnxhr.mov',
    codec: FF_ENCODER_DNXHD,
    clip: { pixels: 'yuv422p', options: { profile: 'dnxhr_hq' } },
    facts: { ...SIZE, ...rate(25), videoCodec: 'dnxhd' },
    needsProxy: true,
  },
  {
    name: 'dnxhr.mxf',
    codec: FF_ENCODER_DNXHD,
    clip: { pixels: 'yuv422p', options: { profile: 'dnxhr_hq' }, rate: [30_000, 1001] },
    facts: { ...SIZE, ...rate(30_000, 1001), videoCodec: 'dnxhd' },
    needsProxy: true,
  },
  {
    name: 'mpeg2.mxf',
    codec: FF_ENCODER_MPEG2VIDEO,
    clip: { sound: { encoder: FF_ENCODER_PCM_S16LE, format: 'sample_fmts=s16:channel_layouts=mono' } },
    facts: { ...SIZE, ...rate(25), videoCodec: 'mpeg2video', audioCodec: 'pcm_s16le', audioChannels: 1 },
    needsProxy: true,
  },
  {
    name: 'mpeg2.mpg',
    codec: FF_ENCODER_MPEG2VIDEO,
    clip: { options: { bf: '2' } },
    facts: { ...SIZE, ...rate(25), videoCodec: 'mpeg2video' },
    needsProxy: true,
  },
  {
    name: 'mpeg2.ts',
    codec: FF_ENCODER_MPEG2VIDEO,
    clip: { options: { bf: '2' }, rate: [30_000, 1001] },
    facts: { ...SIZE, ...rate(30_000, 1001), videoCodec: 'mpeg2video' },
    needsProxy: true,
  },
  {
    name: 'mpeg4.avi',
    codec: FF_ENCODER_MPEG4,
    facts: { ...SIZE, ...rate(25), videoCodec: 'mpeg4' },
    needsProxy: true,
  },
  {
    name: 'wmv.asf',
    codec: FF_ENCODER_WMV2,
    facts: { ...SIZE, videoCodec: 'wmv2' },
    needsProxy: true,
  },
  {
    name: 'surround.mov',
    codec: FF_ENCODER_LIBX264,
    clip: { sound: { encoder: FF_ENCODER_AC3, format: 'sample_fmts=fltp:channel_layouts=5.1' } },
    facts: { ...SIZE, videoCodec: 'h264', audioCodec: 'ac3', audioChannels: 6 },
    needsProxy: true,
  },
  {
    name: 'rate-2997.mp4',
    codec: FF_ENCODER_LIBX264,
    clip: { rate: [30_000, 1001] },
    facts: { ...SIZE, ...rate(30_000, 1001), audioCodec: null },
    needsProxy: false,
  },
  {
    name: 'phone.mp4',
    codec: FF_ENCODER_LIBX265,
    clip: { options: X265, turn: 90 },
    facts: { width: 180, height: 320, videoCodec: 'hevc' },
    needsProxy: true,
  },
  {
    name: 'upside-down.mp4',
    codec: FF_ENCODER_LIBX265,
    clip: { options: X265, turn: 180 },
    facts: { ...SIZE, videoCodec: 'hevc' },
    needsProxy: true,
  },
];

const COUNT = 20;

/** The centre of the only white bar of the poster, if its video is turned by 0, 90 and 180 degrees. */
const WHITE_AT = [
  [60, 90],
  [90, 60],
  [260, 90],
] as const;

/** Makes a video once. */
async function make({ name, codec, clip }: Pick<Video, 'name' | 'codec' | 'clip'>): Promise<string> {
  const input = join(folder, name);
  if (!existsSync(input)) await makeClip(input, codec, { frames: COUNT, ...clip });
  return input;
}

withEachDecoder((decoder) => {
  test.each(VIDEOS)('$name has its facts, pictures and frames', async ({ name, codec, clip, facts, needsProxy }) => {
    const input = await make({ name, codec, clip });
    const read = await readFile('VIDEO', 'video/mp4', await readBytes(input), { decoder });
    expect(read.facts).toMatchObject({ ...facts, frameCount: COUNT, variableFrameRate: false });
    const seconds = COUNT / ((read.facts.frameRate?.numerator ?? 0) / (read.facts.frameRate?.denominator ?? 1));
    expect(Math.abs((read.facts.durationMs ?? 0) - seconds * 1000)).toBeLessThan(30);
    expect(read.proxies).toEqual(needsProxy ? [540] : []);
    const [width, height] = [read.facts.width ?? 0, read.facts.height ?? 0];
    expect(read.files.find(({ kind }) => kind === 'POSTER')).toMatchObject({ width, height });
    const poster = await read.open('poster.webp').greyscale().raw().toBuffer();
    expect(WHITE_AT.map(([x, y]) => (poster[y * width + x] ?? 0) > 128)).toEqual(
      WHITE_AT.map((_, index) => index === [0, 90, 180].indexOf(clip?.turn ?? 0)),
    );
    const { files, path } = await read.proxy(540);
    expect(files).toMatchObject([{ kind: 'PROXY', width, height }]);
    const turn = clip?.turn ?? 0;
    const proxy = await readCounter(path, turn);
    expect(proxy).toEqual(await readCounter(input));
    expect(proxy.map(({ number }) => number)).toEqual(Array.from({ length: COUNT }, (_, n) => n));
  });

  test.each([
    ['smpte2084', 0.5, 180],
    ['arib-std-b67', 0.75, 217],
  ])('the posters and proxies of %s are mapped to ordinary screens', async (transfer, level, expected) => {
    const input = join(folder, `grey-${transfer}.mp4`);
    const filter = `lutyuv=y=${Math.round(64 + level * 876)},${colours(transfer)}`;
    await makeClip(input, FF_ENCODER_LIBX265, { pixels: 'yuv420p10le', options: X265, filter, frames: 5 });
    const { open, proxy } = await readFile('VIDEO', 'video/mp4', await readBytes(input), { decoder });
    const { channels } = await open('poster.webp').stats();
    const [mean = 0] = channels.map((channel) => channel.mean);
    expect(Math.abs(mean - expected)).toBeLessThan(10);
    const { path } = await proxy(540);
    await using made = await AvFile.open(path);
    expect(made.video?.codecpar.colorTrc).toBe(made.av.AVCOL_TRC_BT709);
  });
});

/** The numbers that the pictures of a filmstrip show. */
async function readFilmstrip(strip: Sharp, { columns, rows }: Filmstrip): Promise<number[]> {
  const { data, info } = await strip.greyscale().raw().toBuffer({ resolveWithObject: true });
  const [wide, high] = [info.width / columns, info.height / rows];
  return Array.from({ length: columns * rows }, (_, tile) => {
    const [left, top] = [(tile % columns) * wide, Math.floor(tile / columns) * high];
    const isWhite = (bar: number) => (data[(top + high / 2) * info.width + left + (bar + 0.5) * (wide / 8)] ?? 0) > 128;
    return Array.from({ length: 8 }, (_, bar) => (isWhite(bar) ? 1 << bar : 0)).reduce((sum, bit) => sum + bit, 0);
  });
}

withEachDecoder((decoder) => {
  test.each<[string, FFVideoEncoder, Clip, number]>([
    ['course.mp4', FF_ENCODER_LIBX264, { frames: 60, rate: [10, 1] }, 5],
    // Long videos with many key frames, which the FFmpeg of the host decodes from there; with and without an index.
    ['long.mov', FF_ENCODER_PRORES_KS, { frames: 200, rate: [1, 1], pixels: 'yuv422p10le' }, 2],
    ['long.ts', FF_ENCODER_LIBX264, { frames: 200, rate: [1, 1], options: { g: '1', bf: '0' } }, 2],
  ])('the filmstrip of %s shows the frames of its times', async (name, codec, clip, framesPerTile) => {
    const bytes = await readBytes(await make({ name, codec, clip }));
    const { files, open } = await readFile('VIDEO', 'video/mp4', bytes, { decoder });
    const { filmstrip } = files.find(({ kind }) => kind === 'FILMSTRIP') ?? {};
    if (!filmstrip) throw new Error('there is no filmstrip');
    const tiles = (clip.frames ?? 0) / framesPerTile;
    const shown = (await readFilmstrip(open('filmstrip.webp'), filmstrip)).slice(0, tiles);
    expect(shown).toEqual(Array.from({ length: tiles }, (_, tile) => tile * framesPerTile));
  });
});

/** Formats that are read by nothing but FFmpeg. */
const NEEDS_FFMPEG = ['dnxhr.mxf', 'mpeg2.mxf', 'mpeg2.mpg', 'mpeg2.ts', 'mpeg4.avi', 'wmv.asf'];

test.skipIf(lacksFfmpeg).each(VIDEOS)('$name has the same facts by every source', async ({ name, codec, clip }) => {
  const bytes = await readBytes(await make({ name, codec, clip }));
  const factsBy = async (decoder: Decoder) => {
    const { facts } = await readFile('VIDEO', 'video/mp4', bytes, { decoder });
    return { ...facts, placeholder: null };
  };
  const { durationMs, ...facts } = await factsBy({ name: 'node-av' });
  const expectSame = async (found: Promise<MediaFacts>) => {
    expect(await found).toMatchObject(facts);
    // FFmpeg 5.1 counts the padding at the end of Opus.
    expect(Math.abs(((await found).durationMs ?? 0) - (durationMs ?? 0))).toBeLessThanOrEqual(20);
  };
  await expectSame(factsBy({ name: 'ffmpeg', path: FFMPEG ?? '' }));
  const withoutDecoder = factsBy({ name: 'none' });
  if (NEEDS_FFMPEG.includes(name)) await expect(withoutDecoder).rejects.toMatchObject({ code: 'NO_DECODER' });
  else await expectSame(withoutDecoder);
});

test.skipIf(lacksFfmpeg).each([
  ['sound.wav', 'pcm_s16le'],
  ['sound.mp3', 'mp3'],
  ['sound.flac', 'flac'],
  ['sound.ogg', 'vorbis'],
  ['sound.m4a', 'aac'],
])('%s has its facts by every source, and a waveform by every decoder', async (name, audioCodec) => {
  const path = join(folder, name);
  const codec = audioCodec === 'vorbis' ? 'libvorbis' : audioCodec === 'mp3' ? 'libmp3lame' : audioCodec;
  const tone = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=2', '-ac', '2', '-c:a', codec];
  await promisify(execFile)(FFMPEG ?? '', ['-nostdin', '-v', 'error', ...tone, path]);
  const decoders: Decoder[] = [{ name: 'node-av' }, { name: 'ffmpeg', path: FFMPEG ?? '' }, { name: 'none' }];
  for (const decoder of decoders) {
    const { facts, files } = await readFile('AUDIO', 'audio/mpeg', await readBytes(path), { decoder });
    expect(facts, decoder.name).toMatchObject({ audioCodec, audioChannels: 2, videoCodec: null, frameCount: null });
    expect(Math.abs((facts.durationMs ?? 0) - 2000), decoder.name).toBeLessThan(60);
    expect(files.map(({ kind }) => kind)).toEqual(decoder.name === 'none' ? [] : ['WAVEFORM']);
  }
});

const flat = (width: number, height: number, background = '#c60') =>
  sharp({ create: { width, height, channels: 3, background } });

async function animation(): Promise<Sharp> {
  const frames = await Promise.all(['#f00', '#0f0', '#00f'].map((colour) => flat(64, 48, colour).png().toBuffer()));
  return sharp(frames, { join: { animated: true } });
}

async function animatedAvif(): Promise<Buffer> {
  const path = join(folder, 'animated.avif');
  await makeClip(path, FF_ENCODER_LIBSVTAV1, { frames: 5, width: 64, height: 64, options: { preset: '12' } });
  return readBytes(path);
}

test.each<[string, string, Partial<MediaFacts>, () => Promise<Buffer>]>([
  ['an 8K still', 'image/png', { width: 7680, height: 4320 }, () => flat(7680, 4320).png().toBuffer()],
  [
    'a CMYK photo',
    'image/jpeg',
    { width: 400, height: 300 },
    () => flat(400, 300).toColourspace('cmyk').jpeg().toBuffer(),
  ],
  [
    'an animated GIF',
    'image/gif',
    { width: 64, height: 48, frameCount: 3, durationMs: 600 },
    async () => (await animation()).gif({ delay: [100, 200, 300] }).toBuffer(),
  ],
  [
    'an animated WebP',
    'image/webp',
    { width: 64, height: 48, frameCount: 3, durationMs: 600 },
    async () => (await animation()).webp({ delay: [100, 200, 300] }).toBuffer(),
  ],
  ['an animated AVIF', 'image/avif', { width: 64, height: 64, frameCount: 5, durationMs: 200 }, animatedAvif],
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((orientation): [string, string, Partial<MediaFacts>, () => Promise<Buffer>] => [
    `EXIF orientation ${orientation}`,
    'image/jpeg',
    orientation < 5 ? { width: 80, height: 60 } : { width: 60, height: 80 },
    () => flat(80, 60).jpeg().withMetadata({ orientation }).toBuffer(),
  ]),
])('%s has its facts and stills', async (_, mimeType, expected, make) => {
  const { facts, files, open } = await readFile('IMAGE', mimeType, await make());
  expect(facts).toMatchObject(expected);
  expect(files.map(({ kind }) => kind)).toEqual(['THUMBNAIL', 'POSTER']);
  const { width = 0, height = 0, space } = await open('poster.webp').metadata();
  expect(space).toBe('srgb');
  expect(width / height).toBeCloseTo((facts.width ?? 0) / (facts.height ?? 1), 1);
});

const MODELS: [string, boolean][] = [
  ['with a texture', true],
  ['without textures', false],
];

test.each(MODELS)('a model %s has its triangles and stills', async (_, hasTexture) => {
  const document = new Document();
  const buffer = document.createBuffer();
  const accessor = (type: 'VEC2' | 'VEC3', numbers: number[]) =>
    document.createAccessor().setType(type).setArray(new Float32Array(numbers)).setBuffer(buffer);
  const material = document.createMaterial().setBaseColorFactor([0, 0, 1, 1]);
  if (hasTexture) {
    const image = await flat(512, 512, '#fff').png().toBuffer();
    material.setBaseColorTexture(document.createTexture().setImage(image).setMimeType('image/png'));
  }
  const primitive = document
    .createPrimitive()
    .setAttribute('POSITION', accessor('VEC3', [0, 0, 0, 1, 0, 0, 1, 0, 1]))
    .setAttribute('TEXCOORD_0', accessor('VEC2', [0, 0, 1, 0, 1, 1]))
    .setMaterial(material);
  document.createScene().addChild(document.createNode().setMesh(document.createMesh().addPrimitive(primitive)));
  const bytes = await new NodeIO().writeBinary(document);
  const { facts, files } = await readFile('MODEL', 'model/gltf-binary', bytes);
  expect(facts).toMatchObject({ triangleCount: 1, width: null, durationMs: null });
  expect(files.map(({ kind }) => kind)).toEqual(['THUMBNAIL', 'POSTER']);
});
