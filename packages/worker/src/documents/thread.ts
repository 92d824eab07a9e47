import { parentPort, workerData } from 'node:worker_threads';
import { readFonts } from './fonts.ts';
import { cleanMarkdown, titleOf } from './markdown.ts';

export interface Order {
  /** The answer of the language model. */
  answer: string;
  format: 'pdf' | 'markdown';
  /** Font files, or folders of them, in addition to the shipped fonts. */
  fonts: readonly string[];
}

export interface Made {
  bytes: Uint8Array;
  /** Letters that no font has, drawn as a box. */
  missing: string[];
  /** Why the additional fonts could not be read; null if they could. */
  fontProblem: string | null;
}

async function make({ answer, format, fonts }: Order): Promise<Made> {
  const markdown = cleanMarkdown(answer);
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
