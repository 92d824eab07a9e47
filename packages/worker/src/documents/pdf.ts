import pdfmake from 'pdfmake';
import type { StyleDictionary, TFontDictionary } from 'pdfmake/interfaces.js';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { fontPath, type OtherFont } from './fonts.ts';
import { Lettering } from './lettering.ts';
import { contentOf } from './pdf-content.ts';
import { sanitizeText } from './text.ts';

const sans = fontPath('DejaVuSans');
const bold = fontPath('DejaVuSans-Bold');
const mono = fontPath('DejaVuSansMono');
const known = new Set([sans, bold, mono]);

// pdfmake may fetch no URL and read no file but the fonts, regardless of the document's text.
pdfmake.setUrlAccessPolicy(() => false);
pdfmake.setLocalAccessPolicy((path) => known.has(path));
const SHIPPED: TFontDictionary = {
  DejaVuSans: { normal: sans, bold, italics: sans, bolditalics: bold },
  DejaVuSansMono: { normal: mono, bold: mono, italics: mono, bolditalics: mono },
};

function useFonts(others: readonly OtherFont[]): void {
  const fonts = { ...SHIPPED };
  for (const { path, member } of others) {
    known.add(path);
    const source = () => (member === null ? path : [path, member]);
    const styles = { normal: source(), bold: source(), italics: source(), bolditalics: source() };
    // The type declarations lack font collections.
    Object.assign(fonts, { [path]: styles });
  }
  pdfmake.setFonts(fonts);
}

const STYLES: StyleDictionary = {
  heading1: { fontSize: 22, bold: true, margin: [0, 0, 0, 10] },
  heading2: { fontSize: 15, bold: true, margin: [0, 14, 0, 6] },
  heading3: { fontSize: 12, bold: true, margin: [0, 10, 0, 4] },
  block: { margin: [0, 0, 0, 6] },
  code: { fontSize: 9, color: '#1d2939' },
  quote: { color: '#475467' },
  link: { color: '#175cd3', decoration: 'underline' },
  footer: { fontSize: 8, color: '#667085', alignment: 'center' },
};

export interface Pdf {
  bytes: Uint8Array;
  /** Letters that no font has, drawn as a box. */
  missing: string[];
}

/** Renders Markdown as a PDF, in the shipped fonts and in `others` for letters that these lack. */
export async function pdfOf(
  markdown: string,
  { title, writtenAt }: { title: string; writtenAt: Date },
  others: readonly OtherFont[] = [],
): Promise<Pdf> {
  const tree = unified().use(remarkParse).use(remarkGfm).parse(markdown);
  const lettering = new Lettering(others);
  useFonts(others);
  const document = pdfmake.createPdf({
    info: { title: sanitizeText(title), creator: 'Project Review Service', creationDate: writtenAt },
    pageSize: 'A4',
    pageMargins: [56, 56, 56, 56],
    defaultStyle: { font: 'DejaVuSans', fontSize: 10, lineHeight: 1.25 },
    styles: STYLES,
    content: contentOf(tree, lettering),
    footer: (page, pages) => ({ text: `${page} / ${pages}`, style: 'footer' }),
  });
  return { bytes: await document.getBuffer(), missing: [...lettering.missing] };
}
