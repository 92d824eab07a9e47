import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Canvas, createCanvas, DOMMatrix, ImageData, Path2D } from '@napi-rs/canvas';
import { NO_FACTS } from '@review/contract/no-facts';
import type { PDFDocumentProxy } from 'pdfjs-dist/types/src/display/api.js';
import type { PageViewport } from 'pdfjs-dist/types/src/display/page_viewport.js';
import sharp, { type Sharp } from 'sharp';
import type { MadeFile, ReadOrder, ReadResult } from './read-order.ts';
import { Refused } from './refused.ts';
import { writeStills } from './stills.ts';

declare module 'pdfjs-dist/types/src/display/api.js' {
  interface PDFPageProxy {
    /** Its types name the canvas of browsers, but it draws on any that has the same methods. */
    render(parameters: { canvas: Canvas; viewport: PageViewport }): RenderTask;
  }
}

/** The longer side of the first page in pixels, from which the stills are made. */
const COVER_SIDE = 1280;
/** The longer side of the picture of a page: as wide as a tablet shows it. */
const PAGE_SIDE = 1600;

/** Lets pdf.js draw with the canvas of this package instead of the one that it would look for. */
class CanvasFactory {
  create(width: number, height: number) {
    const canvas = createCanvas(width, height);
    return { canvas, context: canvas.getContext('2d') };
  }
  getNoAlphaContext(canvas: Canvas) {
    return canvas.getContext('2d', { alpha: false });
  }
  reset({ canvas }: ReturnType<CanvasFactory['create']>, width: number, height: number): void {
    canvas.width = width;
    canvas.height = height;
  }
  destroy({ canvas }: ReturnType<CanvasFactory['create']>): void {
    canvas.width = 0;
    canvas.height = 0;
  }
}

async function openDocument({ input, maxPixels }: ReadOrder): Promise<PDFDocumentProxy> {
  Object.assign(globalThis, { DOMMatrix, ImageData, Path2D });
  const { getDocument, VerbosityLevel } = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const assets = (name: string) => new URL(`./${name}/`, import.meta.resolve('pdfjs-dist/package.json')).pathname;
  const loading = getDocument({
    data: new Uint8Array(await readFile(input)),
    CanvasFactory,
    cMapUrl: assets('cmaps'),
    standardFontDataUrl: assets('standard_fonts'),
    wasmUrl: assets('wasm'),
    iccUrl: assets('iccs'),
    disableFontFace: true,
    enableXfa: false,
    maxImageSize: maxPixels,
    verbosity: VerbosityLevel.ERRORS,
  });
  return loading.promise.catch((error: unknown) => {
    if (error instanceof Error && error.name === 'PasswordException')
      throw new Refused('UNREADABLE', 'The PDF is protected by a password.');
    throw error;
  });
}

/** Draws a page whose longer side has that many pixels. */
async function drawPage(document: PDFDocumentProxy, number: number, side: number): Promise<Sharp> {
  const page = await document.getPage(number);
  const natural = page.getViewport({ scale: 1 });
  const viewport = page.getViewport({ scale: side / Math.max(natural.width, natural.height) });
  const [width, height] = [Math.max(1, Math.round(viewport.width)), Math.max(1, Math.round(viewport.height))];
  const canvas = createCanvas(width, height);
  await page.render({ canvas, viewport }).promise;
  const raw = { width, height, channels: 4 } as const;
  const picture = sharp(canvas.data(), { raw }).flatten({ background: '#fff' });
  page.cleanup();
  return picture;
}

/** Reads the number of pages of a PDF, and draws the first one. */
export async function readDocument(order: ReadOrder): Promise<ReadResult> {
  const document = await openDocument(order);
  const { files, placeholder } = await writeStills(await drawPage(document, 1, COVER_SIDE), order.output);
  return { facts: { ...NO_FACTS, pageCount: document.numPages, placeholder }, files };
}

/** Draws pages of a PDF. Leaves out those that it does not have. */
export async function drawPages(order: ReadOrder, pages: readonly number[]): Promise<ReadResult> {
  const document = await openDocument(order);
  const files: MadeFile[] = [];
  for (const number of pages.filter((page) => page <= document.numPages)) {
    const file = `page-${number}.webp`;
    const picture = await drawPage(document, number, PAGE_SIDE);
    const { width, height } = await picture.webp({ quality: 80 }).toFile(join(order.output, file));
    files.push({ kind: 'PAGE', variant: number, file, mimeType: 'image/webp', width, height, filmstrip: null });
  }
  return { facts: NO_FACTS, files };
}
