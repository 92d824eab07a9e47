import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MediaFacts } from '@review/contract';
import sharp, { type OverlayOptions } from 'sharp';
import { openVideo } from './open-video.ts';
import type { MadeFile, ReadOrder, ReadResult } from './read-order.ts';
import { writeStills } from './stills.ts';
import { type AvFacts, readFacts } from './video-facts.ts';
import type { Renderer, Size } from './video-source.ts';

const POSTER_SIDE = 1280;
const TILE_SIDE = 160;
const COLUMNS = 10;
const MAX_TILES = 100;
const MIN_INTERVAL_MS = 500;
const MAX_PEAKS = 2000;
const PEAK_RATE = 8000;

const FACTS_ONLY = {
  code: 'NO_DECODER',
  message:
    'The workers have no decoder for video and sound: the facts were read, but there is no preview. Install the package node-av or set FFMPEG_PATH, and rebuild.',
} as const;

/** Reads the facts of a video or sound, and makes its poster, filmstrip and waveform. */
export async function readVideo(order: ReadOrder): Promise<ReadResult> {
  const { output, maxPixels } = order;
  await using source = await openVideo(order);
  const read = await readFacts(source.probed, maxPixels);
  const { facts, proxies } = read;
  const renderer = source.createRenderer(read);
  if (renderer === null) return { facts, files: [], incomplete: FACTS_ONLY };
  const files: MadeFile[] = [];
  if (source.probed.video !== null) {
    const size = sizeWithin(POSTER_SIDE, facts);
    // Videos often begin with a black frame.
    const poster = await renderer.pictureAt(Math.min(1, read.seconds / 10), size);
    if (poster !== null) {
      const stills = await writeStills(sharp(poster, { raw: { ...size, channels: 3 } }), output);
      facts.placeholder = stills.placeholder;
      files.push(...stills.files);
    }
    files.push(...(await writeFilmstrip(renderer, read, output)));
  }
  if (source.probed.audio !== null) files.push(await writeWaveform(renderer, read, output));
  return { facts, files, proxies };
}

/** Writes one picture with many small ones, for scrubbing. */
async function writeFilmstrip(renderer: Renderer, { facts, seconds }: AvFacts, output: string): Promise<MadeFile[]> {
  const tile = sizeWithin(TILE_SIDE, facts);
  const intervalMs = Math.max(MIN_INTERVAL_MS, Math.ceil((seconds * 1000) / MAX_TILES));
  const count = Math.max(1, Math.ceil((seconds * 1000) / intervalMs));
  const tiles: OverlayOptions[] = [];
  let index = 0;
  for await (const pixels of renderer.pictures({ intervalMs, count }, tile)) {
    const place = { left: (index % COLUMNS) * tile.width, top: Math.floor(index / COLUMNS) * tile.height };
    if (pixels !== null) tiles.push({ input: pixels, raw: { ...tile, channels: 3 }, ...place });
    index += 1;
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

/** Returns the size of a picture whose longer side has at most these pixels. */
function sizeWithin(side: number, { width, height }: MediaFacts): Size {
  const [wide, high] = [width ?? side, height ?? side];
  const scale = Math.min(1, side / Math.max(wide, high));
  return { width: Math.max(1, Math.round(wide * scale)), height: Math.max(1, Math.round(high * scale)) };
}

/** Writes the peaks of the sound, from 0 to 1, at equal intervals. */
async function writeWaveform(renderer: Renderer, { seconds }: AvFacts, output: string): Promise<MadeFile> {
  const perPeak = Math.max(1, Math.ceil((seconds * PEAK_RATE) / MAX_PEAKS));
  const peaks: number[] = [];
  let [peak, samples] = [0, 0];
  for await (const bytes of renderer.samples(PEAK_RATE)) {
    for (let offset = 0; offset + 4 <= bytes.length; offset += 4) {
      peak = Math.max(peak, Math.abs(bytes.readFloatLE(offset)));
      samples += 1;
      if (samples % perPeak !== 0 || peaks.length >= MAX_PEAKS) continue;
      peaks.push(Math.round(Math.min(1, peak) * 1000) / 1000);
      peak = 0;
    }
  }
  const name = 'waveform.json';
  const intervalMs = (perPeak / PEAK_RATE) * 1000;
  await writeFile(join(output, name), JSON.stringify({ version: 1, intervalMs, peaks }));
  const none = { width: null, height: null, filmstrip: null };
  return { kind: 'WAVEFORM', variant: 0, file: name, mimeType: 'application/json', ...none };
}
