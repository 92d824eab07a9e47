import { type FontName, fontOf } from './fonts.ts';
import { stripFormatting } from './text.ts';

/** Replaces letters that no font has. */
export const MISSING_GLYPH = '□';
const isCovered = (name: FontName, character: string): boolean =>
  fontOf(name).hasGlyphForCodePoint(character.codePointAt(0) ?? 0);

/** Replaces every character without a glyph in the font by a box. */
export function toDrawable(text: string, font: FontName): string {
  return Array.from(stripFormatting(text), (character) =>
    character === '\n' || isCovered(font, character) ? character : MISSING_GLYPH,
  ).join('');
}

export const isDrawable = (text: string, font: FontName): boolean => toDrawable(text, font) === text;
