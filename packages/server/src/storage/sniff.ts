/** The number of leading bytes to sniff. Documents in ZIP archives are recognised only after some entries. */
export const SNIFFED_BYTES = 64 * 1024;

const BINARY = 'application/octet-stream';
const PLAIN_TEXT = 'text/plain';
/** Types with a signature of two letters, which plain text may begin with too. */
const KNOWN_BY_TWO_LETTERS = ['image/bmp', 'application/x-msdownload'];
const EXECUTABLE_TEXT = /^text\/(html|.*(javascript|ecmascript|jscript|livescript))$/;
/** XML declaration, comments and document type before the first element. */
const PROLOGUE = /^\uFEFF?(\s+|<\?[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE[^>[]*(\[[^\]]*\]\s*)?>)*/i;

/** Returns the type of the content. The declared type only decides between text types with no signature. */
export async function sniffType(firstBytes: Buffer, declared: string | null): Promise<string> {
  const text = textOf(firstBytes);
  // Imported when needed: its 30 modules would delay the start of the server.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(firstBytes).catch(() => undefined);
  const mime = found === undefined ? undefined : bareType(found.mime);
  if (text === null) return mime ?? BINARY;
  const root = rootElement(text);
  if (root === 'svg') return 'image/svg+xml';
  if (root === 'html') return PLAIN_TEXT;
  if (mime === undefined || KNOWN_BY_TWO_LETTERS.includes(mime)) return declaredText(declared);
  return mime;
}

/** Returns null for binary content. The last character may be incomplete. */
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
  return /^text\/[\w.+-]+$/.test(type) && !EXECUTABLE_TEXT.test(type) ? type : PLAIN_TEXT;
}

const bareType = (type: string) => type.replace(/;.*$/s, '').trim().toLowerCase();
