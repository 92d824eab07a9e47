import { fileURLToPath } from 'node:url';
import { type Font, openSync } from 'fontkit';
import { LRUCache } from 'lru-cache';

/** A part of a line in one direction. */
export interface Run {
  text: string;
  width: number;
  rightToLeft: boolean;
}

export interface Line {
  runs: Run[];
  /** Whether the paragraph is read from right to left. */
  rightToLeft: boolean;
}

/** One face only, because nothing else runs while a font is opened and while it is embedded. */
export const FONT = fileURLToPath(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'));

/** Drawn in place of a letter that the font lacks. */
const MISSING = '□';
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const STRONG = /[\p{L}\p{N}]/u;
/** Scripts that are written without spaces: lines break between any two letters. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** A letter may have any number of accents, and each takes time. */
const MAX_CODE_POINTS = 8;
const LETTERS = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

interface Letter {
  text: string;
  /** In units of the font size. */
  width: number;
}

/** Measures letters, replaces those that the font lacks, and breaks texts into lines. */
export class Lettering {
  readonly #font = openFont();
  readonly #letters = new LRUCache<string, Letter>({ max: 5000 });

  /** Yields the lines of a text. Those that are wider than `width` are broken, at spaces if possible. */
  *lines(text: string, size: number, width: number): Generator<Line> {
    for (const paragraph of drawable(text).split('\n')) {
      const rightToLeft = RIGHT_TO_LEFT.test(STRONG.exec(paragraph)?.[0] ?? '');
      for (const letters of this.#broken(paragraph, width / size)) {
        yield { runs: runsOf(letters, size), rightToLeft };
      }
    }
  }

  *#broken(paragraph: string, width: number): Generator<Letter[]> {
    let line: Letter[] = [];
    let [used, breakAt] = [0, 0];
    for (const { segment } of LETTERS.segment(paragraph)) {
      const letter = this.#letterOf(segment);
      if (UNSPACED.test(segment)) breakAt = line.length;
      if (used + letter.width > width && segment !== ' ' && line.length > 0) {
        const at = breakAt > 0 ? breakAt : line.length;
        yield line.slice(0, at);
        line = line.slice(at);
        used = line.reduce((sum, each) => sum + each.width, 0);
        breakAt = 0;
      }
      line.push(letter);
      used += letter.width;
      if (/[\s-]/.test(segment) || UNSPACED.test(segment)) breakAt = line.length;
    }
    yield line;
  }

  #letterOf(text: string): Letter {
    const known = this.#letters.get(text);
    if (known !== undefined) return known;
    const characters = Array.from(text).slice(0, MAX_CODE_POINTS);
    const isCovered = characters.every((each) => this.#font.hasGlyphForCodePoint(each.codePointAt(0) ?? 0));
    const drawn = isCovered ? characters.join('') : MISSING;
    const letter = { text: drawn, width: this.#font.layout(drawn).advanceWidth / this.#font.unitsPerEm };
    this.#letters.set(text, letter);
    return letter;
  }
}

let font: Font | undefined;

/** Kept for all documents: it takes 2 MB, and 40 ms to open. */
function openFont(): Font {
  const opened = font ?? openSync(FONT);
  if (!('layout' in opened)) throw new TypeError(`${FONT} is a collection of fonts.`);
  font = opened;
  return opened;
}

/** Without control characters and invisible formatting, such as marks of direction. */
const drawable = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[^\P{Cc}\n]/gu, ' ')
    .replace(/[\p{Cf}\p{Variation_Selector}]/gu, '');

/** Joins letters of the same direction. Spaces and punctuation have the direction of what precedes them. */
function runsOf(letters: readonly Letter[], size: number): Run[] {
  const runs: Run[] = [];
  for (const { text, width } of letters) {
    const last = runs.at(-1);
    const rightToLeft = STRONG.test(text) ? RIGHT_TO_LEFT.test(text) : (last?.rightToLeft ?? false);
    if (last?.rightToLeft === rightToLeft) {
      last.text += text;
      last.width += width * size;
    } else runs.push({ text, width: width * size, rightToLeft });
  }
  return runs;
}
