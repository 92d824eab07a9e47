import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { readPicture } from './picture.ts';

const SOON = () => AbortSignal.timeout(30_000);
const LIMITS = { milliseconds: 2500, memoryMegabytes: 1024, outputBytes: 1024 * 1024 };

const svg = (inside: string, side = 4000) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${side}" height="${side}">${inside}</svg>`,
  );

/** A few hundred bytes that take minutes. */
const TURBULENCE = svg(
  `<filter id="f"><feTurbulence baseFrequency=".9" numOctaves="99999"/>${'<feGaussianBlur stdDeviation="99"/>'.repeat(9)}</filter><rect width="100%" height="100%" filter="url(#f)"/>`,
);
/** Each level draws the one below ten times. */
const USES = svg(
  `<defs><g id="a0"><path d="M0 0L9 9"/></g>${Array.from({ length: 9 }, (_, level) => `<g id="a${level + 1}">${`<use xlink:href="#a${level}"/>`.repeat(10)}</g>`).join('')}</defs><use xlink:href="#a9"/>`,
);

const photo = () => sharp({ create: { width: 300, height: 200, channels: 3, background: '#c60' } });
const asPhoto = (bytes: Buffer, limits = LIMITS) =>
  readPicture({ bytes, mimeType: 'image/png' }, ['image/png'], SOON(), limits);
const asDrawing = (bytes: Buffer, limits = LIMITS) =>
  readPicture({ bytes, mimeType: 'image/svg+xml' }, ['image/png'], SOON(), limits);

test.each([
  ['filters', TURBULENCE],
  ['copies of copies', USES],
])('a drawing of endless %s ends at the time limit', async (_, bytes) => {
  const start = performance.now();
  await expect(asDrawing(bytes)).rejects.toThrow(/takes more than 3 seconds|cannot be read/);
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('four endless drawings block neither photos nor file access nor DNS', async () => {
  const stop = new AbortController();
  const drawing = { bytes: TURBULENCE, mimeType: 'image/svg+xml' };
  const ended: unknown[] = [];
  const limits = { ...LIMITS, milliseconds: 60_000 };
  const drawings = Array.from({ length: 4 }, () =>
    readPicture(drawing, ['image/png'], stop.signal, limits).catch((error: unknown) => ended.push(error)),
  );
  const bytes = await photo().webp().toBuffer();
  await Promise.all([asPhoto(bytes, limits), readFile(import.meta.filename), lookup('localhost')]);
  // Waiting drawings time out; none is rendered to its end.
  for (const error of ended) expect(error).toMatchObject({ name: 'TimeoutError' });
  expect(ended.length).toBeLessThan(4);
  const canceled = new Error('canceled');
  stop.abort(canceled);
  await Promise.all(drawings);
  expect(ended).toHaveLength(4);
  expect(ended).toContain(canceled);
});

test('a small file with too many pixels is refused before they are decoded', async () => {
  await expect(asPhoto(pngOf(30_000, 30_000))).rejects.toThrow('has more than 60 megapixels');
  await expect(asDrawing(svg('<rect/>', 30_000))).rejects.toThrow('has more than 60 megapixels');
});

test('a picture that takes too much memory is refused', async () => {
  const bytes = await photo().webp().toBuffer();
  await expect(asPhoto(bytes, { ...LIMITS, milliseconds: 15_000, memoryMegabytes: 8 })).rejects.toThrow(
    'takes more than 8 MB of memory',
  );
});

test('a picture that is too large as a PNG is refused', async () => {
  const bytes = await photo().webp().toBuffer();
  await expect(asPhoto(bytes, { ...LIMITS, milliseconds: 15_000, outputBytes: 100 })).rejects.toThrow(
    /has more than .* MB once it is decoded/,
  );
});

test.each(['webp', 'tiff', 'gif', 'avif'] as const)('a truncated %s is refused', async (format) => {
  const { data } = await photo().resize(600).toFormat(format).toBuffer({ resolveWithObject: true });
  const bytes = data.subarray(0, data.length / 2);
  const reading = readPicture({ bytes, mimeType: `image/${format}` }, [], SOON(), { ...LIMITS, milliseconds: 15_000 });
  await expect(reading).rejects.toThrow('cannot be read as a picture');
});

test('a drawing that is declared as another type is refused', async () => {
  await expect(asPhoto(svg('<rect/>', 10), { ...LIMITS, milliseconds: 15_000 })).rejects.toThrow('cannot be read');
});

/** A PNG with a valid header, and zeros compressed a thousand to one. */
function pngOf(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 0, 0, 0, 0], 8);
  const chunk = (type: string, data: Buffer) => {
    const named = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const pixels = deflateSync(Buffer.alloc(1_000_000));
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}
