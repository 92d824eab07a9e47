import { readdir } from 'node:fs/promises';
import { NO_FACTS } from '@review/contract';
import sharp, { type Sharp } from 'sharp';
import { expect, test } from 'vitest';
import type {} from './read-order.ts';
import { readFile } from './test/read-file.ts';

const photo = (width: number, height: number): Sharp =>
  sharp({ create: { width, height, channels: 3, background: '#c60' } });

const read = (bytes: Buffer, mimeType: string) => readFile('IMAGE', mimeType, bytes);
const PLACEHOLDER = /^data:image\/webp;base64,/;

test('a photo has its size, a poster of 640 pixels, a thumbnail of 320 and a small placeholder', async () => {
  const { facts, files, output, open } = await read(await photo(1920, 1080).jpeg().toBuffer(), 'image/jpeg');
  expect(facts).toEqual({ ...NO_FACTS, width: 1920, height: 1080, placeholder: expect.stringMatching(PLACEHOLDER) });
  expect(facts.placeholder?.length).toBeLessThan(400);
  expect(files).toMatchObject([
    { kind: 'THUMBNAIL', mimeType: 'image/webp', width: 320, height: 180 },
    { kind: 'POSTER', mimeType: 'image/webp', width: 640, height: 360 },
  ]);
  expect((await readdir(output)).toSorted()).toEqual(['poster.webp', 'thumbnail.webp']);
  expect(await open('poster.webp').metadata()).toMatchObject({ format: 'webp', width: 640, height: 360 });
});

test('a photo is turned as EXIF says', async () => {
  const bytes = await photo(800, 600).jpeg().withMetadata({ orientation: 6 }).toBuffer();
  const { facts, files } = await read(bytes, 'image/jpeg');
  expect([facts.width, facts.height]).toEqual([600, 800]);
  expect(files[1]).toMatchObject({ width: 480, height: 640 });
});

test('a small picture is not enlarged', async () => {
  const { files } = await read(await photo(40, 30).png().toBuffer(), 'image/png');
  expect(files.map(({ width, height }) => [width, height])).toEqual([
    [40, 30],
    [40, 30],
  ]);
});

test('CMYK becomes sRGB', async () => {
  const bytes = await photo(400, 300).toColourspace('cmyk').jpeg().toBuffer();
  const { open } = await read(bytes, 'image/jpeg');
  expect(await open('poster.webp').metadata()).toMatchObject({ space: 'srgb', channels: 3 });
});

test('transparency is kept', async () => {
  const bytes = await sharp({ create: { width: 20, height: 20, channels: 4, background: '#c600' } })
    .png()
    .toBuffer();
  const { open } = await read(bytes, 'image/png');
  expect((await open('thumbnail.webp').metadata()).hasAlpha).toBe(true);
});

test.each(['gif', 'webp'] as const)('an animated %s has its frames and duration', async (format) => {
  const frames = await Promise.all(
    ['#f00', '#0f0', '#00f'].map((background) =>
      sharp({ create: { width: 64, height: 48, channels: 3, background } })
        .png()
        .toBuffer(),
    ),
  );
  const bytes = await sharp(frames, { join: { animated: true } })
    .toFormat(format, { delay: [100, 200, 300] })
    .toBuffer();
  const { facts } = await read(bytes, `image/${format}`);
  expect(facts).toMatchObject({ width: 64, height: 48, frameCount: 3, durationMs: 600 });
});

test.each(['png', 'webp', 'tiff', 'avif'] as const)('a %s is read', async (format) => {
  const { facts } = await read(await photo(320, 200).toFormat(format).toBuffer(), `image/${format}`);
  expect(facts).toMatchObject({ width: 320, height: 200 });
});

test('a drawing is rendered without what it refers to', async () => {
  const bytes = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="300"><image href="file:///etc/passwd" width="9" height="9"/><rect width="900" height="300" fill="#0a0"/></svg>',
  );
  const { facts, files } = await read(bytes, 'image/svg+xml');
  expect([facts.width, facts.height]).toEqual([900, 300]);
  expect(files[1]).toMatchObject({ width: 640, height: 213 });
});

test.each([
  [
    'image/png',
    Buffer.from('not a picture'),
    'UNREADABLE',
    'The file is damaged, or not of the type that it seems to be.',
  ],
  ['image/bmp', Buffer.from('BM'), 'NO_DECODER', 'Pictures of the type image/bmp cannot be read.'],
  [
    'image/svg+xml',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="30000" height="30000"><rect/></svg>'),
    'LIMIT_EXCEEDED',
    'The picture has more than 200 megapixels.',
  ],
])('%s is refused with a reason', async (mimeType, bytes, code, message) => {
  await expect(read(bytes, mimeType)).rejects.toMatchObject({ code, message });
});

test('a truncated picture is refused', async () => {
  const noise = Buffer.from(Array.from({ length: 300 * 300 * 3 }, (_, index) => (index * 7919) % 251));
  const bytes = await sharp(noise, { raw: { width: 300, height: 300, channels: 3 } })
    .png()
    .toBuffer();
  await expect(read(bytes.subarray(0, bytes.length / 2), 'image/png')).rejects.toMatchObject({ code: 'UNREADABLE' });
});
