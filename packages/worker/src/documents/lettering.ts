import { MISSING_GLYPH } from './drawable.ts';
import { fontOf, type OtherFont } from './fonts.ts';
import { stripFormatting } from './text.ts';

interface Run {
  text: string;
  font: string;
}

const DEFAULT_FONT = 'DejaVuSans';

/** Chooses a font for every letter of a document, and collects the letters that no font has. */
export class Lettering {
  readonly missing = new Set<string>();
  readonly #others: readonly OtherFont[];
  readonly #chosen = new Map<string, string | null>();

  constructor(others: readonly OtherFont[] = []) {
    this.#others = others;
  }

  /** Splits the text into runs of one font each. */
  runs(text: string): Run[] {
    const runs: Run[] = [];
    for (const character of stripFormatting(text)) {
      const last = runs.at(-1);
      const font = this.#fontFor(character, last?.font ?? DEFAULT_FONT);
      const drawn = font === null ? MISSING_GLYPH : character;
      if (last !== undefined && last.font === (font ?? DEFAULT_FONT)) last.text += drawn;
      else runs.push({ text: drawn, font: font ?? DEFAULT_FONT });
    }
    return runs;
  }

  #fontFor(character: string, before: string): string | null {
    if (character === '\n') return before;
    // A combining mark stays with the letter before it.
    if (/\p{M}/u.test(character) && this.#has(before, character)) return before;
    const known = this.#chosen.get(character);
    if (known !== undefined) return known;
    const name =
      [DEFAULT_FONT, ...this.#others.map(({ path }) => path)].find((font) => this.#has(font, character)) ?? null;
    this.#chosen.set(character, name);
    if (name === null) this.missing.add(character);
    return name;
  }

  #has(name: string, character: string): boolean {
    const font = name === DEFAULT_FONT ? fontOf(DEFAULT_FONT) : this.#others.find(({ path }) => path === name)?.font;
    return font?.hasGlyphForCodePoint(character.codePointAt(0) ?? 0) ?? false;
  }
}
