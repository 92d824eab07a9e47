import { MAX_PDF_COMMENTS } from '@review/contract';
import { extractText } from 'unpdf';
import { expect, test } from 'vitest';
import { comment, NO_PICTURES } from '../test/exported.ts';
import type { Comments } from './exported.ts';
import { pdfOf } from './pdf.ts';

async function* numbered(count: number): Comments {
  for (let index = 1; index <= count; index++) yield comment(index * 40, `Note ${index} on this cut`);
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
  const chunks: Buffer[] = [];
  for await (const chunk of pdfOf(file, numbered(MAX_PDF_COMMENTS + 1), NO_PICTURES, new Date(0))) chunks.push(chunk);
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(200_000);
  const { text } = await extractText(new Uint8Array(Buffer.concat(chunks)), { mergePages: true });
  const written = text.matchAll(/Note (\d+) on this cut/g);
  expect(Array.from(written, ([, index]) => Number(index))).toEqual(
    Array.from({ length: MAX_PDF_COMMENTS }, (_, index) => index + 1),
  );
  expect(text).toContain(`Only the first ${MAX_PDF_COMMENTS} comments are in this document.`);
});
