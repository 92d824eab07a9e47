import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Font, openSync } from 'fontkit';

/** Shipped, because a bare machine has no fonts at all. */
export type FontName = 'DejaVuSans' | 'DejaVuSans-Bold' | 'DejaVuSansMono';

/** The folder is as far from the source as from the build. */
export const fontPath = (name: FontName): string =>
  fileURLToPath(new URL(`../../assets/fonts/${name}.ttf`, import.meta.url));

const fonts = new Map<FontName, Font>();

export function fontOf(name: FontName): Font {
  const known = fonts.get(name);
  if (known) return known;
  const font = openSync(fontPath(name));
  if (!('layout' in font)) throw new TypeError(`${name} holds several fonts.`);
  fonts.set(name, font);
  return font;
}

/** A font of the host's own, for letters that the shipped ones lack. */
export interface OtherFont {
  path: string;
  /** Which one it is, in a file that holds several. */
  member: string | null;
  font: Font;
}

/** The fonts in these files and folders, in their order. A file that holds several gives its first. */
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
  if (font === undefined) throw new TypeError(`${path} holds no font.`);
  return { path, member: font.postscriptName, font };
}
