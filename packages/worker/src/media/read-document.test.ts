import pdfmake from 'pdfmake';
import type { Content, ContentCanvas } from 'pdfmake/interfaces.js';
import { expect, test } from 'vitest';
import { makePages } from './read-media.ts';
import { readFile } from './test/read-file.ts';

/** A PDF with these pages, of which each is a rectangle over the whole width. */
async function pdfOf(pages: number, options: object = {}): Promise<Buffer> {
  const content = Array.from({ length: pages }, (_, index): Content => {
    const page: ContentCanvas = { canvas: [{ type: 'rect', x: 0, y: 0, w: 200, h: 300, color: '#cc6600' }] };
    return index === 0 ? page : { ...page, pageBreak: 'before' };
  });
  return pdfmake.createPdf({ pageSize: { width: 200, height: 300 }, pageMargins: 0, content, ...options }).getBuffer();
}

const read = (bytes: Uint8Array) => readFile('DOCUMENT', 'application/pdf', bytes);

test('a PDF has its pages, and a poster of the first', async () => {
  const { facts, files, open } = await read(await pdfOf(3));
  expect(facts).toMatchObject({ pageCount: 3, width: null, placeholder: expect.stringMatching(/^data:image\/webp/) });
  expect(files).toMatchObject([
    { kind: 'THUMBNAIL', width: 214, height: 320 },
    { kind: 'POSTER', width: 427, height: 640 },
  ]);
  const { dominant } = await open('poster.webp').stats();
  expect([dominant.r > 180, dominant.b < 60]).toEqual([true, true]);
});

test('pages are drawn on request; those that the PDF does not have are left out', async () => {
  const { content, open } = await read(await pdfOf(3));
  const { files } = await makePages(content, [3, 1, 4], AbortSignal.timeout(100_000));
  const shape = { kind: 'PAGE', mimeType: 'image/webp', width: 1067, height: 1600 };
  expect(files).toMatchObject([
    { ...shape, variant: 3 },
    { ...shape, variant: 1 },
  ]);
  const { dominant } = await open('page-3.webp').stats();
  expect([dominant.r > 180, dominant.b < 60]).toEqual([true, true]);
});

test('a PDF of 500 pages is read', async () => {
  expect((await read(await pdfOf(500))).facts.pageCount).toBe(500);
});

test('a PDF with a password says so', async () => {
  await expect(read(await pdfOf(1, { userPassword: 'secret' }))).rejects.toMatchObject({
    code: 'UNREADABLE',
    message: 'The PDF is protected by a password.',
  });
});

test('a damaged PDF is refused', async () => {
  await expect(read(Buffer.from('%PDF-1.7\nnothing'))).rejects.toMatchObject({ code: 'UNREADABLE' });
});
