import { readFile, writeFile } from 'node:fs/promises';
import {
  type Encoder,
  FF_ENCODER_LIBX264,
  FF_ENCODER_PRORES_KS,
  type FFAudioEncoder,
  type FFVideoEncoder,
  type Frame,
  type Muxer,
} from 'node-av';
import { AvFile, loadAv } from '../av-file.ts';
import { secondsOf } from '../video-source.ts';

/** Each frame shows its number as bars, one per bit. */
const BARS = 8;
const TIMES_PER_SECOND = 90_000;
const SAMPLES = 1024;
const SAMPLE_RATE = 48_000;

export const H264 = FF_ENCODER_LIBX264;
/** The encoder of a format that browsers do not play. */
export const PRORES = FF_ENCODER_PRORES_KS;

export interface Clip {
  /** Frames per second as a fraction. */
  rate?: readonly [number, number];
  frames?: number;
  width?: number;
  height?: number;
  pixels?: string;
  /** Filters such as `setparams`, which marks the colours of HDR. */
  filter?: string;
  /** By how many degrees a player turns the pictures clockwise. Only in MP4 and QuickTime files. */
  turn?: 90 | 180 | 270;
  options?: Record<string, string>;
  /** Replaces the regular times, in seconds. */
  times?: readonly number[];
  sound?: { encoder: FFAudioEncoder; format: string };
}

/** Makes a video with a counter, and with a tone if it has sound. The extension decides the container. */
export async function makeClip(path: string, codec: FFVideoEncoder, clip: Clip = {}): Promise<void> {
  const av = await loadAv();
  const { rate = [25, 1], frames = 20, width = 320, height = 180, pixels = 'yuv420p', options = {}, sound } = clip;
  const [num, den] = rate;
  const regular = Array.from({ length: frames }, (_, index) => (index * den) / num);
  const times = clip.times ?? regular;
  const timeBase = clip.times === undefined ? new av.Rational(den, num) : new av.Rational(1, TIMES_PER_SECOND);
  const context = { timeBase, framerate: new av.Rational(num, den), threadCount: 1 };
  const encoder = await av.Encoder.create(codec, { context, options });
  const filter = av.FilterAPI.create([`format=${pixels}`, ...(clip.filter ? [clip.filter] : [])].join(','));
  const muxer = await av.Muxer.open(path);
  const picture = trackTo(muxer, encoder);
  const voice = sound && trackTo(muxer, await av.Encoder.create(sound.encoder));
  for (const [index, seconds] of times.entries()) {
    const pts = BigInt(Math.round((seconds * timeBase.den) / timeBase.num));
    const props = { width, height, format: av.AV_PIX_FMT_GRAY8, timeBase, pts };
    const frame = av.Frame.fromVideoBuffer(barsOf(index, width, height), props);
    for (const filtered of await filter.processAll(frame)) await picture.add(filtered);
    frame.free();
  }
  if (sound !== undefined && voice !== undefined) {
    const shape = av.FilterAPI.create(`aformat=${sound.format}`);
    const seconds = times.length * (den / num);
    for (let sample = 0; sample < seconds * SAMPLE_RATE; sample += SAMPLES) {
      const props = {
        nbSamples: SAMPLES,
        format: av.AV_SAMPLE_FMT_FLT,
        sampleRate: SAMPLE_RATE,
        channelLayout: av.AV_CHANNEL_LAYOUT_MONO,
        timeBase: new av.Rational(1, SAMPLE_RATE),
        pts: BigInt(sample),
      };
      const frame = av.Frame.fromAudioBuffer(toneFrom(sample), props);
      for (const shaped of await shape.processAll(frame)) await voice.add(shaped);
      frame.free();
    }
    await voice.end();
  }
  await picture.end();
  await muxer.close();
  if (clip.turn !== undefined) await setDisplayMatrix(path, clip.turn);
}

/** The first two columns of the matrices, by the angle. */
const MATRICES = { 90: [0, 1, -1, 0], 180: [-1, 0, 0, -1], 270: [0, -1, 1, 0] } as const;
/** Where the matrix is in the header of a track, from the name of the box. */
const MATRIX_AT = 44;

async function setDisplayMatrix(path: string, turn: 90 | 180 | 270): Promise<void> {
  const bytes = await readFile(path);
  const at = bytes.indexOf('tkhd') + MATRIX_AT;
  const [a, b, c, d] = MATRICES[turn];
  for (const [index, value] of [a, b, 0, c, d, 0].entries()) bytes.writeInt32BE(value * 65_536, at + index * 4);
  await writeFile(path, bytes);
}

function trackTo(muxer: Muxer, encoder: Encoder) {
  const target = muxer.addStream(encoder);
  const add = async (frame: Frame | null) => {
    for (const packet of await encoder.encodeAll(frame)) await muxer.writePacket(packet, target);
    frame?.free();
  };
  return {
    add,
    async end() {
      await add(null);
      await muxer.writePacket(null, target);
    },
  };
}

function barsOf(number: number, width: number, height: number): Buffer {
  const row = Buffer.alloc(width);
  for (let x = 0; x < width; x++) row[x] = (number >> Math.floor((x * BARS) / width)) & 1 ? 235 : 16;
  return Buffer.concat(Array.from({ length: height }, () => row));
}

function toneFrom(sample: number): Buffer {
  const bytes = Buffer.alloc(SAMPLES * 4);
  for (let index = 0; index < SAMPLES; index++) {
    bytes.writeFloatLE(0.5 * Math.sin(((sample + index) * 440 * 2 * Math.PI) / SAMPLE_RATE), index * 4);
  }
  return bytes;
}

const UNTURN = { 0: '', 90: 'transpose=cclock,', 180: 'hflip,vflip,', 270: 'transpose=clock,' } as const;

/** Returns the number that each frame of a clip shows, and its time in milliseconds after the first. The pictures were turned by `turn` degrees. */
export async function readCounter(
  path: string,
  turn: keyof typeof UNTURN = 0,
): Promise<{ number: number; ms: number }[]> {
  await using file = await AvFile.open(path);
  const { av, video } = file;
  if (video === undefined) return [];
  const decoder = await file.decoderOf(video);
  const filter = av.FilterAPI.create(`${UNTURN[turn]}scale=${BARS}:2:flags=area,format=gray`);
  const found: { number: number; ms: number }[] = [];
  let start: bigint | null = null;
  for await (const frame of file.frames(video, decoder)) {
    start ??= frame.pts;
    const ms = Math.round(secondsOf(frame.pts - start, video.timeBase) * 1000);
    for (const bars of await filter.processAll(frame)) {
      const levels = [...bars.toBuffer().subarray(0, BARS)];
      found.push({ number: levels.reduce((sum, level, bit) => sum + (level > 128 ? 1 << bit : 0), 0), ms });
    }
    frame.free();
  }
  return found;
}
