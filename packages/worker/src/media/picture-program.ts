import { buffer } from 'node:stream/consumers';
import sharp from 'sharp';
import { limitLoaders } from './loaders.ts';
import type { PictureHead, PictureOrder } from './picture.ts';

const [order = ''] = process.argv.slice(2);

/** Reads a picture from standard input. Writes a line of JSON, followed by the PNG if the picture was converted. */
async function read({ mimeType, types, maxPixels }: PictureOrder): Promise<void> {
  limitLoaders(mimeType);
  const picture = sharp(await buffer(process.stdin), { limitInputPixels: maxPixels });
  const { format, compression, width, height } = await picture.metadata();
  // HEIF is a container: AV1 content is AVIF, anything else keeps its declared type.
  const other = compression === 'av1' ? 'image/avif' : mimeType;
  const type = format === 'heif' ? other : `image/${format}`;
  if (types.includes(type)) {
    write({ type, width, height });
    return;
  }
  const { data, info } = await picture.autoOrient().png().toBuffer({ resolveWithObject: true });
  write({ type: 'image/png', width: info.width, height: info.height });
  process.stdout.write(data);
}

const write = (head: PictureHead) => process.stdout.write(`${JSON.stringify(head)}\n`);

const given: PictureOrder = JSON.parse(order);
await read(given).catch((error: unknown) => {
  const tooLarge = `has more than ${given.maxPixels / 1e6} megapixels`;
  write({ refused: String(error).includes('pixel limit') ? tooLarge : 'cannot be read as a picture' });
});
