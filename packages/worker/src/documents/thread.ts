import { parentPort, workerData } from 'node:worker_threads';
import { readFonts } from './fonts.ts';
import { tidied, titleOf } from './markdown.ts';

export interface Order {
  /** What the language model wrote. */
  answer: string;
  format: 'pdf' | 'markdown';
  /** Fonts beside the shipped ones: files, or folders of them. */
  fonts: readonly string[];
}

export interface Made {
  bytes: Uint8Array;
  /** Letters that no font has: a box stands in their place. */
  missing: string[];
  /** Why the fonts of the host could not be read. */
  fontProblem: string | null;
}

async function make({ answer, format, fonts }: Order): Promise<Made> {
  const markdown = tidied(answer);
  if (format === 'markdown' || markdown.trim() === '') {
    return { bytes: Buffer.from(markdown.trim() === '' ? '' : markdown), missing: [], fontProblem: null };
  }
  const { pdfOf } = await import('./pdf.ts');
  const { found, fontProblem } = hostFonts(fonts);
  const about = { title: titleOf(markdown) ?? 'Document', writtenAt: new Date() };
  return { ...(await pdfOf(markdown, about, found)), fontProblem };
}

function hostFonts(paths: readonly string[]) {
  try {
    return { found: readFonts(paths), fontProblem: null };
  } catch (error) {
    return { found: [], fontProblem: String(error) };
  }
}

parentPort?.postMessage(await make(workerData));
