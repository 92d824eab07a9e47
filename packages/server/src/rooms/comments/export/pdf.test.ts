import { Readable } from 'node:stream';
import { inflateSync } from 'node:zlib';
import { NO_FACTS, type Shape } from '@review/contract';
import { extractText, getDocumentProxy } from 'unpdf';
import { expect, test } from 'vitest';
import type { Storage } from '../../../storage/storage.ts';
import { decodeWebp } from '../../media/decode-webp.ts';
import type { StoredRendition } from '../../media/queries.ts';
import { comment, NO_PICTURES, streamed } from '../test/exported.ts';
import type { ExportedComment, ExportedFile } from './exported.ts';
import { type Frame, Frames } from './frames.ts';
import { pdfOf } from './pdf.ts';

const FILE: ExportedFile = {
  name: 'cut.mp4',
  anchors: 'milliseconds',
  rate: { numerator: 25, denominator: 1 },
  durationMs: 120_000,
  width: 64,
  height: 36,
};

const LIMITS = { comments: 100, characters: 100_000, pictures: 100 };

async function pdfWith(comments: ExportedComment[], pictures = NO_PICTURES, limits = LIMITS) {
  const chunks: Buffer[] = [];
  for await (const chunk of pdfOf(FILE, streamed(comments), pictures, new Date(0), limits)) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const { text, totalPages } = await extractText(await getDocumentProxy(new Uint8Array(bytes)), { mergePages: true });
  return { bytes, text, totalPages };
}

/** Two pictures of 32 x 18 pixels: red, then blue. */
const FILMSTRIP = Buffer.from(
  'UklGRmAAAABXRUJQVlA4IFQAAABwBACdASpAABIAPp1EnUmlo6KhLAgAsBOJYwDPJY27P+gfir+AABlGGgSxYAD+7gpnt2JuPQz/7StzMP/LIXHvLX/7aCNuf/PQc3H0K5T0sitgAAA=',
  'base64',
);
/** 4 x 2 pixels of red, half transparent. */
const TRANSPARENT = Buffer.from(
  'UklGRmAAAABXRUJQVlA4WAoAAAAQAAAAAwAAAQAAQUxQSAkAAAAAgICAgICAgIAAVlA4IDAAAADQAQCdASoEAAIAAUAmJaACdLoB+AADsAD+8ut//NgVzXPv9//S4P0uD9Lg/9KQAAA=',
  'base64',
);
/** 4 x 2 pixels of green, without loss. */
const LOSSLESS = Buffer.from('UklGRhwAAABXRUJQVlA4TA8AAAAvA0AAAAfQ/4j+ByKi/wEA', 'base64');

test('letters that the font lacks are boxes, and nothing that a comment contains fails', async () => {
  const accents = `a${'\u0301'.repeat(4000)}`;
  const { text } = await pdfWith([
    comment(1000, 'Grüße, Привет, Γειά, 字幕 🎬'),
    comment(1000, '\0\u0007\u202E\ud800\uffff\u2028'),
    comment(1000, accents),
    comment(1000, 'q'.repeat(5000)),
    comment(1000, '', {
      author: '',
      replies: [{ author: 'Bo', text: 'To a deleted one', createdAt: '2026-11-16 10:00:00' }],
    }),
  ]);
  expect(text).toContain('Grüße, Привет, Γειά, □□ □');
  expect(text.match(/q/g)).toHaveLength(5000);
  expect(text).toMatch(/Deleted comment.*Bo, 2026-11-16 10:00 UTC.*To a deleted one/s);
});

test('words of Hebrew are drawn from right to left', async () => {
  const { text } = await pdfWith([comment(1000, 'שלום עולם')]);
  expect(text).toMatch(/שלום עולם|םלוע םולש/);
});

test('what exceeds a limit is left out, and the document says so', async () => {
  const reply = { author: 'Bo', text: 'Reply', createdAt: '2026-11-16 10:00:00' };
  const three = [comment(1000, 'First', { replies: [reply] }), comment(1000, 'Second'), comment(1000, 'Third')];
  const few = await pdfWith(three, NO_PICTURES, { ...LIMITS, comments: 3 });
  expect(few.text).toContain('Only the first 2 comments are in this document.');
  expect(few.text).not.toContain('Third');
  const short = await pdfWith(three, NO_PICTURES, { ...LIMITS, characters: 30 });
  expect(short.text).toContain('Only the first 1 comments');
  expect((await pdfWith([])).text).toContain('There are no comments.');
  const fewPages = await pdfWith(three, { ...NO_PICTURES, isPageLeftOut: () => true });
  expect(fewPages.text).toContain('Only the first 20 pages with comments have a picture in this document.');
});

test('marks of Markdown are not printed, and a link has its address', async () => {
  const reply = { author: 'Bo', text: '`take_4` it is', createdAt: '2026-11-16 10:00:00' };
  const { text } = await pdfWith([comment(1000, '**Hold** [the pan](https://example.com/pan)', { replies: [reply] })]);
  expect(text).toMatch(/Hold the pan \(https:\/\/example\.com\/pan\).*take_4 it is/s);
  expect(text).not.toMatch(/[*`]/);
});

test('a long document has many pages', async () => {
  const { totalPages } = await pdfWith(Array.from({ length: 50 }, (_, index) => comment(1000, `Comment ${index}`)));
  expect(totalPages).toBeGreaterThan(2);
});

test('a picture is in the document once, and every shape can be drawn on it', async () => {
  const frame: Frame = { width: 2, height: 1, data: Buffer.from('789c63f8cfc0c0c000000a0002ff', 'hex'), at: 500 };
  const line = { color: '#ff0000', strokeWidth: 0.02 };
  const shapes: Shape[] = [
    { type: 'PEN', points: [[0.5, 0.5]], ...line },
    { type: 'ARROW', from: [0, 0], to: [1, 1], ...line },
    { type: 'LINE', from: [0, 1], to: [1, 0], ...line },
    { type: 'RECTANGLE', x: 0, y: 0, width: 1, height: 1, ...line },
    { type: 'ELLIPSE', x: 0.2, y: 0.2, width: 0.5, height: 0.5, ...line },
    { type: 'TEXT', x: 0.1, y: 0.1, text: 'On the picture', ...line },
    { type: 'PIN', x: 0.5, y: 0.5, ...line },
    { type: 'PIN', x: 5, y: 5, z: 5, ...line },
  ];
  const pictures = { ...NO_PICTURES, frameOf: async () => frame, shapesOf: async () => shapes };
  const { bytes, text } = await pdfWith([comment(1000, 'A', { drawn: true }), comment(1000, 'B')], pictures);
  expect(bytes.toString('latin1').match(/\/Subtype \/Image/g)).toHaveLength(1);
  expect(text.match(/Picture at 00:00:00:12/g)).toHaveLength(2);
  expect(text.match(/On the picture/g)).toHaveLength(1);
  const one = await pdfWith([comment(1000, 'A'), comment(1000, 'B')], pictures, { ...LIMITS, pictures: 1 });
  expect(one.text.match(/Picture at/g)).toHaveLength(1);
  expect(one.text).toContain('Only the first 1 pictures');
});

test.each([
  ['lossy', FILMSTRIP, 64, 18],
  ['transparent', TRANSPARENT, 4, 2],
  ['lossless', LOSSLESS, 4, 2],
])('WebP is decoded: %s', async (_, webp, width, height) => {
  const pixels = await decodeWebp(webp);
  expect([pixels.width, pixels.height, pixels.rgba.length]).toEqual([width, height, width * height * 4]);
});

test('WebP that is damaged, foreign or huge is refused', async () => {
  const huge = Buffer.from(LOSSLESS);
  huge.writeUInt32LE(0x0fffffff, 21);
  for (const webp of [FILMSTRIP.subarray(0, 40), Buffer.from('GIF89a'), Buffer.alloc(100), huge]) {
    await expect(decodeWebp(webp)).rejects.toThrow();
  }
});

const rendition = (kind: StoredRendition['kind'], own: Partial<StoredRendition>): StoredRendition => ({
  file_id: 'FX',
  kind,
  variant: 0,
  build: 1,
  storage_key: kind,
  mime_type: 'image/webp',
  width: null,
  height: null,
  size: 1,
  filmstrip: null,
  ...own,
});

/** The red, green and blue of the first pixel. */
const firstPixel = ({ data }: Frame) => [...inflateSync(data).subarray(1, 4)];

const isRed = (frame: Frame) => {
  const [red = 0, , blue = 0] = firstPixel(frame);
  return red > blue;
};

test('the frame of a time, a page or a picture', async () => {
  const contents: Record<string, Buffer> = { FILMSTRIP, POSTER: TRANSPARENT, PAGE: LOSSLESS };
  const reads: string[] = [];
  const storage: Pick<Storage, 'read'> = {
    read: async (key) => {
      reads.push(key);
      return Readable.from([contents[key] ?? Buffer.alloc(0)]);
    },
  };
  const media = { ...NO_FACTS, status: 'READY', error: null, durationMs: 120_000 } as const;
  const grid = JSON.stringify({ columns: 2, rows: 1, intervalMs: 60_000 });
  const all = [rendition('FILMSTRIP', { filmstrip: grid }), rendition('POSTER', {}), rendition('PAGE', { variant: 7 })];
  const at = (anchor: number | null, drawn = false) => ({ anchor, drawn });

  const video = new Frames({ ...media, kind: 'VIDEO' }, all, storage);
  const [early, late] = [await video.find(at(29_000)), await video.find(at(31_000))];
  expect([early?.at, late?.at]).toEqual([0, 60_000]);
  expect((await video.find(at(999_000)))?.at).toBe(60_000);
  expect(await video.find(at(119_000))).toBe(late);
  expect(await video.find(at(null, true))).toBeNull();
  expect(reads).toEqual(['FILMSTRIP']);
  if (early === null || late === null) throw new Error('there is no frame');
  expect(isRed(early)).toBe(true);
  expect(isRed(late)).toBe(false);

  const image = new Frames({ ...media, kind: 'IMAGE' }, all, storage);
  expect(await image.find(at(null))).toBeNull();
  const poster = await image.find(at(null, true));
  // Half red is pink on white.
  expect(poster && firstPixel(poster)[1]).toBeGreaterThan(100);

  const document = new Frames({ ...media, kind: 'DOCUMENT' }, all, storage);
  expect(await document.find(at(7))).toMatchObject({ width: 4, height: 2, at: null });
  expect(await document.find(at(1))).not.toBeNull();
  expect(await document.find(at(2))).toBeNull();
  expect(document.isPageLeftOut).toBe(false);
  const pages = [rendition('PAGE', { variant: 1 }), rendition('PAGE', { variant: 2, storage_key: 'PAGE 2' })];
  const long = new Frames({ ...media, kind: 'DOCUMENT' }, pages, storage, 1);
  for (let comment = 0; comment < 2; comment++) expect(await long.find(at(1))).not.toBeNull();
  expect(long.isPageLeftOut).toBe(false);
  expect([await long.find(at(2)), long.isPageLeftOut]).toEqual([null, true]);
  expect(await new Frames(null, [], storage).find(at(1000))).toBeNull();
});
