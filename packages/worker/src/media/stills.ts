import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import type { MadeFile } from './read-order.ts';

/** The longer side of each rendition in pixels. */
const POSTER_SIDE = 640;
const THUMBNAIL_SIDE = 320;
const PLACEHOLDER_SIDE = 16;

const within = (side: number) => ({ width: side, height: side, fit: 'inside', withoutEnlargement: true }) as const;

/** Writes the poster and the thumbnail of a picture, and returns a placeholder as a data URI. */
export async function writeStills(picture: Sharp, output: string): Promise<{ files: MadeFile[]; placeholder: string }> {
  // The picture is decoded once: all renditions are made from these pixels.
  const { data, info } = await picture
    .resize(within(POSTER_SIDE))
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const scaled = (side: number, quality: number) =>
    sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels } })
      .resize(within(side))
      .webp({ quality })
      .toBuffer({ resolveWithObject: true });
  const write = async (kind: 'POSTER' | 'THUMBNAIL', side: number): Promise<MadeFile> => {
    const file = `${kind.toLowerCase()}.webp`;
    const made = await scaled(side, 80);
    await writeFile(join(output, file), made.data);
    const { width, height } = made.info;
    return { kind, variant: 0, file, mimeType: 'image/webp', width, height, filmstrip: null };
  };
  const files = [await write('THUMBNAIL', THUMBNAIL_SIDE), await write('POSTER', POSTER_SIDE)];
  const tiny = await scaled(PLACEHOLDER_SIDE, 40);
  return { files, placeholder: `data:image/webp;base64,${tiny.data.toString('base64')}` };
}
