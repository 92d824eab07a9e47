import { MAX_PDF_COMMENTS } from '@review/contract';
import { extractText } from 'unpdf';
import { expect, test } from 'vitest';
import type { Comments } from './exported.ts';
import { pdfOf } from './pdf.ts';

async function* numbered(count: number): Comments {
  for (let index = 1; index <= count; index++) {
    const place = { anchor: index * 40, duration: null, drawn: false, resolvedAt: null };
    const createdAt = '2026-11-16 09:30:00.000000';
    yield {
      id: String(index),
      author: 'Ada Byron',
      text: `Note ${index} on this cut`,
      ...place,
      createdAt,
      replies: [],
    };
  }
}

test('a PDF ends at its limit of comments, and is sent while it is made', { timeout: 600_000 }, async () => {
  const file = {
    name: 'cut.mp4',
    anchors: 'milliseconds',
    rate: null,
    durationMs: 1_000_000,
    width: null,
    height: null,
  } as const;
  const pictures = { frameOf: async () => null, shapesOf: async () => [] };
  const chunks: Buffer[] = [];
  for await (const chunk of pdfOf(file, numbered(MAX_PDF_COMMENTS + 1), pictures, new Date(0))) chunks.push(chunk);
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(200_000);
  const { text } = await extractText(new Uint8Array(Buffer.concat(chunks)), { mergePages: true });
  const written = text.matchAll(/Note (\d+) on this cut/g);
  expect(Array.from(written, ([, index]) => Number(index))).toEqual(
    Array.from({ length: MAX_PDF_COMMENTS }, (_, index) => index + 1),
  );
  expect(text).toContain(`Only the first ${MAX_PDF_COMMENTS} comments are in this document.`);
});
