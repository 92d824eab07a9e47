import { STAND_IN } from './drawable.ts';
import { fontOf, type OtherFont } from './fonts.ts';
import { unsteered } from './text.ts';

interface Run {
  text: string;
  font: string;
}

const USUAL = 'DejaVuSans';

/** Chooses a font for every letter of a document, and remembers the letters that none has. */
export class Lettering {
  readonly missing = new Set<string>();
  readonly #others: readonly OtherFont[];
  readonly #chosen = new Map<string, string | null>();

  constructor(others: readonly OtherFont[] = []) {
    this.#others = others;
  }

  /** The text in runs of one font each. */
  runs(text: string): Run[] {
    const runs: Run[] = [];
    for (const character of unsteered(text)) {
      const last = runs.at(-1);
      const font = this.#fontFor(character, last?.font ?? USUAL);
      const drawn = font === null ? STAND_IN : character;
      if (last !== undefined && last.font === (font ?? USUAL)) last.text += drawn;
      else runs.push({ text: drawn, font: font ?? USUAL });
    }
    return runs;
  }

  #fontFor(character: string, before: string): string | null {
    if (character === '\n') return before;
    // A mark belongs to the letter before it.
    if (/\p{M}/u.test(character) && this.#has(before, character)) return before;
    const known = this.#chosen.get(character);
    if (known !== undefined) return known;
    const name = [USUAL, ...this.#others.map(({ path }) => path)].find((font) => this.#has(font, character)) ?? null;
    this.#chosen.set(character, name);
    if (name === null) this.missing.add(character);
    return name;
  }

  #has(name: string, character: string): boolean {
    const font = name === USUAL ? fontOf(USUAL) : this.#others.find(({ path }) => path === name)?.font;
    return font?.hasGlyphForCodePoint(character.codePointAt(0) ?? 0) ?? false;
  }
}
