import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MediaFacts } from '@review/contract';
import type { Decoder, Frame, Stream } from 'node-av';
import sharp, { type OverlayOptions, type Sharp } from 'sharp';
import { AvFile, secondsOf } from './av-file.ts';
import { pictureFilter } from './picture-filter.ts';
import type { MadeFile, ReadOrder, ReadResult } from './read-order.ts';
import { writeStills } from './stills.ts';
import { type AvFacts, readFacts } from './video-facts.ts';

const POSTER_SIDE = 1280;
const TILE_SIDE = 160;
const COLUMNS = 10;
const MAX_TILES = 100;
const MIN_INTERVAL_MS = 500;
const MAX_PEAKS = 2000;
const PEAK_RATE = 8000;

/** Reads the facts of a video or sound, and makes its poster, filmstrip and waveform. */
export async function readVideo({ input, output, maxPixels }: ReadOrder): Promise<ReadResult> {
  await using file = await AvFile.open(input);
  const read = await readFacts(file, maxPixels);
  const { facts, proxies } = read;
  const files: MadeFile[] = [];
  if (file.video !== undefined) {
    await using pictures = await Pictures.open(file, file.video, read);
    // Videos often begin with a black frame.
    const poster = await pictures.at(Math.min(1, read.seconds / 10), POSTER_SIDE);
    if (poster !== null) {
      const stills = await writeStills(poster, output);
      facts.placeholder = stills.placeholder;
      files.push(...stills.files);
    }
    files.push(...(await writeFilmstrip(pictures, read, output)));
  }
  if (file.audio !== undefined) files.push(await writeWaveform(file, file.audio, read.seconds, output));
  return { facts, files, proxies };
}

/** Takes pictures out of a video, turned as they are shown. */
class Pictures implements AsyncDisposable {
  readonly #file: AvFile;
  readonly #stream: Stream;
  readonly #decoder: Decoder;
  readonly #read: AvFacts;
  #frames: AsyncGenerator<Frame> | null = null;
  #last: Frame | null = null;
  /** The frame after the last. */
  #ahead: Frame | null = null;

  private constructor(file: AvFile, stream: Stream, decoder: Decoder, read: AvFacts) {
    this.#file = file;
    this.#stream = stream;
    this.#decoder = decoder;
    this.#read = read;
  }

  static async open(file: AvFile, stream: Stream, read: AvFacts): Promise<Pictures> {
    return new Pictures(file, stream, await file.decoderOf(stream), read);
  }

  /** Returns the frame that is shown at a time, or the last before the end; null if none can be decoded. */
  async at(seconds: number, side: number): Promise<Sharp | null> {
    // Going on is cheaper than decoding from the key frame again, unless another one is between.
    const key = this.#read.keys.findLast((time) => time <= seconds) ?? -Infinity;
    const canGoOn = this.#last !== null && !this.#isAfter(this.#last, seconds) && this.#timeOf(this.#last) >= key;
    if (!canGoOn) await this.#start(seconds);
    await this.#goOnTo(seconds);
    // Formats without an index may continue after the key frame that is needed. The last start is before the beginning.
    for (let back = 1; this.#isAfter(this.#last, seconds) && back < 4 * (seconds + 1); back *= 4) {
      await this.#start(seconds - back);
      await this.#goOnTo(seconds);
    }
    return this.#last === null ? null : this.#toPicture(this.#last, side);
  }

  #timeOf = (frame: Frame): number => secondsOf(frame.pts, this.#stream.timeBase) - (this.#file.demuxer.startTime || 0);

  #isAfter = (frame: Frame | null, seconds: number): boolean => frame === null || this.#timeOf(frame) > seconds + 0.001;

  /** Decoding starts at the last key frame before a time. */
  async #start(seconds: number): Promise<void> {
    await this.#stop();
    await this.#file.seek(this.#stream, seconds);
    this.#decoder.getCodecContext()?.flushBuffers();
    this.#frames = this.#file.frames(this.#stream, this.#decoder, true);
  }

  async #stop(): Promise<void> {
    await this.#frames?.return(undefined);
    for (const frame of [this.#last, this.#ahead]) frame?.free();
    [this.#frames, this.#last, this.#ahead] = [null, null, null];
  }

  /** Decodes until the last frame is the one that is shown at a time, or the first after it. */
  async #goOnTo(seconds: number): Promise<void> {
    for (;;) {
      this.#ahead ??= (await this.#frames?.next())?.value ?? null;
      if (this.#ahead === null || (this.#last !== null && this.#isAfter(this.#ahead, seconds))) return;
      this.#last?.free();
      [this.#last, this.#ahead] = [this.#ahead, null];
    }
  }

  async #toPicture(frame: Frame, side: number): Promise<Sharp | null> {
    const { facts, look } = this.#read;
    const [shownWidth, shownHeight] = [facts.width ?? frame.width, facts.height ?? frame.height];
    const scale = Math.min(1, side / Math.max(shownWidth, shownHeight));
    const [width, height] = [Math.max(1, Math.round(shownWidth * scale)), Math.max(1, Math.round(shownHeight * scale))];
    const filter = this.#file.av.FilterAPI.create(`${pictureFilter(look, { width, height })},format=rgb24`);
    const [scaled] = await filter.processAll(frame);
    if (scaled === undefined) return null;
    const pixels = scaled.toBuffer();
    scaled.free();
    filter.close();
    return sharp(pixels, { raw: { width, height, channels: 3 } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    this.#decoder.close();
  }
}

/** Writes one picture with many small ones, for scrubbing. */
async function writeFilmstrip(pictures: Pictures, { facts, seconds }: AvFacts, output: string): Promise<MadeFile[]> {
  const tile = tileOf(facts);
  const intervalMs = Math.max(MIN_INTERVAL_MS, Math.ceil((seconds * 1000) / MAX_TILES));
  const count = Math.max(1, Math.ceil((seconds * 1000) / intervalMs));
  const tiles: OverlayOptions[] = [];
  for (let index = 0; index < count; index++) {
    const picture = await pictures.at((index * intervalMs) / 1000, TILE_SIDE);
    if (picture === null) continue;
    const input = await picture.resize(tile.width, tile.height, { fit: 'fill' }).png().toBuffer();
    tiles.push({ input, left: (index % COLUMNS) * tile.width, top: Math.floor(index / COLUMNS) * tile.height });
  }
  if (tiles.length === 0) return [];
  const columns = Math.min(COLUMNS, count);
  const rows = Math.ceil(count / COLUMNS);
  const [width, height] = [columns * tile.width, rows * tile.height];
  const file = 'filmstrip.webp';
  await sharp({ create: { width, height, channels: 3, background: '#000' } })
    .composite(tiles)
    .webp({ quality: 70 })
    .toFile(join(output, file));
  const filmstrip = { columns, rows, intervalMs };
  return [{ kind: 'FILMSTRIP', variant: 0, file, mimeType: 'image/webp', width, height, filmstrip }];
}

function tileOf({ width, height }: MediaFacts): { width: number; height: number } {
  const [wide, high] = [width ?? TILE_SIDE, height ?? TILE_SIDE];
  const scale = Math.min(1, TILE_SIDE / Math.max(wide, high));
  return { width: Math.max(1, Math.round(wide * scale)), height: Math.max(1, Math.round(high * scale)) };
}

/** Writes the peaks of the sound, from 0 to 1, at equal intervals. */
async function writeWaveform(file: AvFile, stream: Stream, seconds: number, output: string): Promise<MadeFile> {
  await file.seek(stream, 0);
  const decoder = await file.decoderOf(stream);
  const layout = 'aformat=sample_fmts=flt:channel_layouts=mono';
  const filter = file.av.FilterAPI.create(`aresample=${PEAK_RATE},${layout}`);
  const perPeak = Math.max(1, Math.ceil((seconds * PEAK_RATE) / MAX_PEAKS));
  const peaks: number[] = [];
  let [peak, samples] = [0, 0];
  const add = (frame: Frame) => {
    const bytes = frame.toBuffer();
    for (let offset = 0; offset + 4 <= bytes.length; offset += 4) {
      peak = Math.max(peak, Math.abs(bytes.readFloatLE(offset)));
      samples += 1;
      if (samples % perPeak !== 0 || peaks.length >= MAX_PEAKS) continue;
      peaks.push(Math.round(Math.min(1, peak) * 1000) / 1000);
      peak = 0;
    }
    frame.free();
  };
  for await (const frame of file.frames(stream, decoder)) {
    for (const resampled of await filter.processAll(frame)) add(resampled);
    frame.free();
  }
  filter.close();
  decoder.close();
  const name = 'waveform.json';
  const intervalMs = (perPeak / PEAK_RATE) * 1000;
  await writeFile(join(output, name), JSON.stringify({ version: 1, intervalMs, peaks }));
  const none = { width: null, height: null, filmstrip: null };
  return { kind: 'WAVEFORM', variant: 0, file: name, mimeType: 'application/json', ...none };
}
