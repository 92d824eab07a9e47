import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { isContentError } from './content-error.ts';
import { readContent } from './read-media.ts';
import { Refused } from './refused.ts';

const errorOf = (work: () => unknown) => (async () => work())().catch((error: unknown) => error);

test.each<[string, () => unknown]>([
  ['sharp', () => sharp(Buffer.from('no picture')).metadata()],
  ['sharp while it decodes', () => sharp(Buffer.from('no picture')).raw().toBuffer()],
  ['pdf.js', () => getDocument({ data: new Uint8Array(10), verbosity: 0 }).promise],
  ['JSON', () => JSON.parse('{')],
  ['a schema', () => z.number().parse('')],
  ['FFmpeg', async () => (await import('./av-file.ts')).AvFile.open(import.meta.filename)],
])('an error of %s is one of the content', async (_, work) => {
  expect(isContentError(await errorOf(work))).toBe(true);
});

test.each<[string, () => unknown]>([
  ['a missing file', async () => (await import('node:fs/promises')).readFile('/missing')],
  ['a bug of ours', () => Buffer.alloc(1).readInt32LE(0)],
  ['a value that is no error', () => Promise.reject('text')],
])('%s is a fault of the worker', async (_, work) => {
  expect(isContentError(await errorOf(work))).toBe(false);
});

test('a fault in the child process is not reported as damaged content', async () => {
  const content = {
    kind: 'MODEL',
    mimeType: 'model/gltf-binary',
    input: '/missing',
    output: '/missing',
    decoder: { name: 'none' },
  } as const;
  const error = await errorOf(() => readContent(content, AbortSignal.timeout(60_000)));
  expect(error).not.toBeInstanceOf(Refused);
  expect(String(error)).toContain('read-program failed: Error: ENOENT');
});
