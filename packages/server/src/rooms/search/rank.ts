import { fold } from '../../db/fold.ts';

/** What a result was found by. */
export interface Match {
  /** From 6, the title itself, to 1, within a text. */
  score: number;
  /** The part of a text around the keyword; null if only the title has it. */
  excerpt: string | null;
}

const EXCERPT_LENGTH = 160;
const BEFORE_MATCH = 50;

/** Ranks a record by where its title or one of its texts contains the folded keyword; null if none does. */
export function matchOf(folded: string, title: string, texts: readonly (string | null)[]): Match | null {
  const inTitle = placeIn(fold(title), folded);
  const text = texts.find((each) => each !== null && fold(each).includes(folded)) ?? null;
  if (inTitle === null && text === null) return null;
  const excerpt = text === null ? null : excerptOf(text, folded);
  if (inTitle !== null) return { score: 3 + inTitle, excerpt };
  return { score: (placeIn(fold(text ?? ''), folded) ?? 0) > 0 ? 2 : 1, excerpt };
}

/** 3 if the text is the keyword, 2 if it begins with it, 1 if a word does, 0 if it is elsewhere; null if it is not in there. */
function placeIn(text: string, folded: string): number | null {
  const at = text.indexOf(folded);
  if (at < 0) return null;
  if (at === 0) return text === folded ? 3 : 2;
  for (let next = at; next >= 0; next = text.indexOf(folded, next + 1)) {
    if (/[^\p{L}\p{N}]/u.test(text.charAt(next - 1))) return 1;
  }
  return 0;
}

/** Returns the part of a text around the first place of the keyword, on one line. */
export function excerptOf(text: string, folded: string): string {
  const characters = [...text];
  const at = fold(text).indexOf(folded);
  // Folding can change the length of a character, such as ß.
  let start = 0;
  for (let length = 0; start < characters.length && length < at; start++)
    length += fold(characters[start] ?? '').length;
  const from = Math.max(0, start - BEFORE_MATCH);
  const shown = characters.slice(from, from + EXCERPT_LENGTH).join('');
  const isCut = from + EXCERPT_LENGTH < characters.length;
  return `${from > 0 ? '…' : ''}${shown.replace(/\s+/g, ' ').trim()}${isCut ? '…' : ''}`;
}
