import { type FontName, fontOf } from './fonts.ts';
import { unsteered } from './text.ts';

/** What is drawn where no font has the letter. */
export const STAND_IN = '□';
const isCovered = (name: FontName, character: string): boolean =>
  fontOf(name).hasGlyphForCodePoint(character.codePointAt(0) ?? 0);

/** Text that the font can draw: what has no glyph becomes a box. */
export function drawable(text: string, font: FontName): string {
  return Array.from(unsteered(text), (character) =>
    character === '\n' || isCovered(font, character) ? character : STAND_IN,
  ).join('');
}

export const isDrawable = (text: string, font: FontName): boolean => drawable(text, font) === text;
