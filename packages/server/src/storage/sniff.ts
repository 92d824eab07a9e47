import { fileTypeFromBuffer } from 'file-type';

/** How many first bytes tell a type; documents that are archives name themselves only after some entries. */
export const SNIFFED_BYTES = 64 * 1024;

const BINARY = 'application/octet-stream';
const PLAIN_TEXT = 'text/plain';
/** Two letters are all there is to recognise them by, and plain text may begin with those. */
const KNOWN_BY_TWO_LETTERS = ['image/bmp', 'application/x-msdownload'];
const TEXT_THAT_RUNS = /^text\/(html|.*(javascript|ecmascript|jscript|livescript))$/;
/** What may stand before the first element: declaration, comments, document type. */
const PROLOGUE = /^\uFEFF?(\s+|<\?[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE[^>[]*(\[[^\]]*\]\s*)?>)*/i;

/** The type that the bytes show; what was declared only chooses between kinds of text that look alike. */
export async function sniffType(firstBytes: Buffer, declared: string | null): Promise<string> {
  const text = textOf(firstBytes);
  const found = await fileTypeFromBuffer(firstBytes).catch(() => undefined);
  const mime = found === undefined ? undefined : bareType(found.mime);
  if (text === null) return mime ?? BINARY;
  const root = rootElement(text);
  if (root === 'svg') return 'image/svg+xml';
  if (root === 'html') return PLAIN_TEXT;
  if (mime === undefined || KNOWN_BY_TWO_LETTERS.includes(mime)) return declaredText(declared);
  return mime;
}

/** Null for what is not text. The last character may be cut in half. */
function textOf(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
}

const rootElement = (text: string) =>
  text
    .replace(PROLOGUE, '')
    .match(/^<([a-z][\w-]*)[\s/>]/i)?.[1]
    ?.toLowerCase();

function declaredText(declared: string | null): string {
  const type = bareType(declared ?? '');
  if (type === 'application/json') return type;
  return /^text\/[\w.+-]+$/.test(type) && !TEXT_THAT_RUNS.test(type) ? type : PLAIN_TEXT;
}

const bareType = (type: string) => type.replace(/;.*$/s, '').trim().toLowerCase();
