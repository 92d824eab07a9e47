const PLAIN_FILE_NAME = /^[ !#$&-[\]-~]+$/;
const MEDIA_TYPE = /^[\w.+-]{1,127}\/[\w.+-]{1,127}(; ?charset=[\w-]{1,40})?$/;

/**
 * Always a download, never a page. `filename` alone where it can say the name, because curl and old clients read
 * nothing else; `filename*` (RFC 8187) beside it where it cannot.
 */
export function attachment(name: string): string {
  const shown = name.toWellFormed();
  if (PLAIN_FILE_NAME.test(shown)) return `attachment; filename="${shown}"`;
  const fallback = shown.replace(/[^ !#$&-[\]-~]/gu, '_');
  return `attachment; filename="${fallback}"; filename*=UTF-8''${extendedValue(shown)}`;
}

/** What is served says only types that are one; anything else would be a way to write headers. */
export const servedType = (mimeType: string): string =>
  MEDIA_TYPE.test(mimeType) ? mimeType : 'application/octet-stream';

const extendedValue = (text: string) =>
  encodeURIComponent(text).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
