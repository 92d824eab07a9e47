import { buffer } from 'node:stream/consumers';
import sharp from 'sharp';
import type { PictureHead, PictureOrder } from './picture.ts';

const RASTER_LOADERS = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'];

const [milliseconds, order = ''] = process.argv.slice(2);
// A safety net for a worker that died: normally the worker kills this process earlier.
setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(milliseconds) + 1000).unref();

/** Reads a picture from standard input. Writes a line of JSON, followed by the PNG if the picture was converted. */
async function read({ mimeType, types, maxPixels }: PictureOrder): Promise<void> {
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  const loaders = mimeType === 'image/svg+xml' ? ['Svg'] : RASTER_LOADERS;
  sharp.unblock({ operation: loaders.map((name) => `VipsForeignLoad${name}`) });
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
