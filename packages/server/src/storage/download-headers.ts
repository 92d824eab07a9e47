const PLAIN_FILE_NAME = /^[ !#$&-[\]-~]+$/;
const MEDIA_TYPE = /^[\w.+-]{1,127}\/[\w.+-]{1,127}(; ?charset=[\w-]{1,40})?$/;

/**
 * Returns a Content-Disposition that makes browsers download the file. Uses `filename` alone for plain ASCII names,
 * because curl and old clients read nothing else, and adds `filename*` (RFC 8187) for other names.
 */
export function attachment(name: string): string {
  const wellFormed = name.toWellFormed();
  if (PLAIN_FILE_NAME.test(wellFormed)) return `attachment; filename="${wellFormed}"`;
  const fallback = wellFormed.replace(/[^ !#$&-[\]-~]/gu, '_');
  return `attachment; filename="${fallback}"; filename*=UTF-8''${extendedValue(wellFormed)}`;
}

/** The Content-Type to serve: the type itself if it is well-formed. A malformed one could inject headers. */
export const servedType = (mimeType: string): string =>
  MEDIA_TYPE.test(mimeType) ? mimeType : 'application/octet-stream';

const extendedValue = (text: string) =>
  encodeURIComponent(text).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
