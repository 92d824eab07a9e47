import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';

/** Zeros that take almost no space: 1,000 times as many once they are inflated. */
export const deflatedZeros = (megabytes: number) => deflateSync(Buffer.alloc(megabytes * 1024 * 1024), { level: 9 });

function chunk(name: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A PNG that claims this size, with this compressed data. */
export function png(width: number, height: number, data: Buffer, extra: Buffer[] = []): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits of grey.
  head[8] = 8;
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([signature, chunk('IHDR', head), ...extra, chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

/** A text chunk with a compressed comment, which decoders may inflate. */
export const pngComment = (compressed: Buffer) =>
  chunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0', 'latin1'), compressed]));

/** A GIF of one pixel per frame whose canvas has this size. */
export function gif(width: number, height: number, frames: number, { isEnded = true } = {}): Buffer {
  const screen = Buffer.from('GIF89a\0\0\0\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1');
  screen.writeUInt16LE(width, 6);
  screen.writeUInt16LE(height, 8);
  const loop = Buffer.from('!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0', 'latin1');
  const frame = Buffer.from('!\xf9\x04\x04\x01\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0', 'latin1');
  return Buffer.concat([screen, loop, ...Array.from({ length: frames }, () => frame), Buffer.from(isEnded ? ';' : '')]);
}

/** A lossless WebP whose head claims the largest size that the format has. */
export async function webpOfLargestSize(): Promise<Buffer> {
  const bytes = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#c60' } })
    .webp({ lossless: true })
    .toBuffer();
  const at = bytes.indexOf('VP8L') + 9;
  bytes.writeUInt32LE((bytes.readUInt32LE(at) & 0xf0000000) | 0x0fffffff, at);
  return bytes;
}

/** A PDF of one page. `extra` are further objects, from number 5. */
export const pdf = (content: string, { extra = '', box = '0 0 200 200' } = {}) =>
  Buffer.from(
    `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n` +
      `3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[${box}]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>>>endobj\n` +
      `4 0 obj<</Length ${content.length}>>stream\n${content}\nendstream endobj\n${extra}trailer<</Root 1 0 R>>\n`,
    'latin1',
  );

/** A stream object with the number 5, which the page can draw. */
export const formObject = (content: string, entries = '') =>
  `5 0 obj<</Type/XObject/Subtype/Form/BBox[0 0 9 9]${entries}/Length ${content.length}>>stream\n${content}\nendstream endobj\n`;

/** A GLB with this text as its JSON. The lengths in its head can be false. */
export function glb(json: string, { length = json.length, total = 20 + json.length, binary = Buffer.alloc(0) } = {}) {
  const head = Buffer.alloc(20);
  head.write('glTF');
  head.writeUInt32LE(2, 4);
  head.writeUInt32LE(total, 8);
  head.writeUInt32LE(length, 12);
  head.write('JSON', 16);
  return Buffer.concat([head, Buffer.from(json), binary]);
}
