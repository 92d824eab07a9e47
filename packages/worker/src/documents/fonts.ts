import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Font, openSync } from 'fontkit';

/** The shipped fonts, because a host may have none. */
export type FontName = 'DejaVuSans' | 'DejaVuSans-Bold' | 'DejaVuSansMono';

export const fontPath = (name: FontName): string =>
  fileURLToPath(import.meta.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`));

const fonts = new Map<FontName, Font>();

export function fontOf(name: FontName): Font {
  const known = fonts.get(name);
  if (known) return known;
  const font = openSync(fontPath(name));
  if (!('layout' in font)) throw new TypeError(`${name} is a font collection; expected a single font.`);
  fonts.set(name, font);
  return font;
}

/** A font of the host, for letters that the shipped fonts lack. */
export interface OtherFont {
  path: string;
  /** The name of the font in a collection file. */
  member: string | null;
  font: Font;
}

/** Reads the fonts in these files and folders, in order. Of a collection, the first font is used. */
export const readFonts = (paths: readonly string[]): OtherFont[] => paths.flatMap(filesIn).map(readFont);

const IS_FONT = /\.(ttf|otf|ttc|otc)$/i;

function filesIn(path: string): string[] {
  if (IS_FONT.test(path)) return [path];
  const names = readdirSync(path).filter((name) => IS_FONT.test(name));
  return names.sort().map((name) => join(path, name));
}

function readFont(path: string): OtherFont {
  const opened = openSync(path);
  if ('layout' in opened) return { path, member: null, font: opened };
  const [font] = opened.fonts;
  if (font === undefined) throw new TypeError(`${path} contains no font.`);
  return { path, member: font.postscriptName, font };
}
