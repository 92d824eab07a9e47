/** Text that any reader of UTF-8 takes: line ends made one, control characters and halves of pairs made visible. */
export const readable = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '\uFFFD');

/** Text without the marks that only steer other renderers. */
export const unsteered = (text: string): string =>
  readable(text)
    .replaceAll('\t', '    ')
    .replace(/[\p{Cf}\p{Variation_Selector}]/gu, '');

export const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'’-]*/gu) ?? [];

/** At most so many characters, with a sign that more was there. */
export function shortened(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

/** Breaks every run without a space that is longer than asked, never between the halves of a pair. */
export const broken = (text: string, longest: number, separator: string): string =>
  text.replace(new RegExp(`\\S{${longest}}(?=\\S)`, 'gu'), (run) => run + separator);
