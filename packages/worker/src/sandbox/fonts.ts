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
