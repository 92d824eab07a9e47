/** Normalizes line ends, and replaces control characters and lone surrogates by visible characters. */
export const sanitizeText = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '\uFFFD');

/** Removes invisible formatting characters, such as bidirectional controls. */
export const stripFormatting = (text: string): string =>
  sanitizeText(text)
    .replaceAll('\t', '    ')
    .replace(/[\p{Cf}\p{Variation_Selector}]/gu, '');

export const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'’-]*/gu) ?? [];

/** Truncates the text to `max` characters, with an ellipsis. */
export function truncate(text: string, max: number): string {
  const characters = Array.from(text);
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

/** Inserts the separator into words longer than `max`, never inside a surrogate pair. */
export const breakLongWords = (text: string, max: number, separator: string): string =>
  text.replace(new RegExp(`\\S{${max}}(?=\\S)`, 'gu'), (run) => run + separator);
