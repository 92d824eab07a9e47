import { open } from 'node:fs/promises';
import { NO_FACTS } from '@review/contract/no-facts';
import sharp from 'sharp';
import { limitLoaders } from './loaders.ts';
import type { ReadOrder, ReadResult } from './read-order.ts';
import { Refused } from './refused.ts';
import { writeStills } from './stills.ts';

const READABLE = ['jpeg', 'png', 'apng', 'webp', 'gif', 'tiff', 'avif', 'svg+xml'].map((name) => `image/${name}`);

/** The first side of a picture that EXIF turns by 90 degrees. */
const FIRST_TURNED = 5;

export async function readImage(order: ReadOrder): Promise<ReadResult> {
  const { mimeType, input, output, maxPixels } = order;
  if (!READABLE.includes(mimeType)) throw new Refused('NO_DECODER', `Pictures of the type ${mimeType} cannot be read.`);
  if (mimeType === 'image/avif' && (await isSequence(input))) return readSequence(order);
  limitLoaders(mimeType);
  const decode = () => sharp(input, { limitInputPixels: maxPixels, failOn: 'error' });
  const { width, height, orientation = 1, pages = 1, delay = [] } = await decode().metadata();
  const isTurned = orientation >= FIRST_TURNED;
  const { files, placeholder } = await writeStills(decode().autoOrient(), output);
  const facts = {
    ...NO_FACTS,
    width: isTurned ? height : width,
    height: isTurned ? width : height,
    // A TIFF with pages is not an animation.
    ...(delay.length > 1 && { frameCount: pages, durationMs: delay.reduce((sum, time) => sum + time, 0) }),
    placeholder,
  };
  return { facts, files };
}

/** Whether the first brand is that of an animated AVIF, which sharp does not read. */
async function isSequence(input: string): Promise<boolean> {
  await using file = await open(input);
  const { buffer } = await file.read(Buffer.alloc(12), 0, 12, 0);
  return buffer.toString('latin1', 4) === 'ftypavis';
}

/** Reads an animation as the video that it contains. */
async function readSequence(order: ReadOrder): Promise<ReadResult> {
  const { readVideo } = await import('./read-video.ts');
  const { facts, files, incomplete } = await readVideo(order);
  const { width, height, frameCount, durationMs, placeholder } = facts;
  return {
    facts: { ...NO_FACTS, width, height, frameCount, durationMs, placeholder },
    files: files.filter(({ kind }) => kind === 'THUMBNAIL' || kind === 'POSTER'),
    incomplete,
  };
}
