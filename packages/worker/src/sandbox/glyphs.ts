import { toDrawable } from '../documents/drawable.ts';
import { type FontName, fontOf } from '../documents/fonts.ts';
import { breakLongWords } from '../documents/text.ts';

const LINE_HEIGHT = 1.35;

interface TextBlock {
  font: FontName;
  /** The font size in pixels. */
  size: number;
  lines: string[];
  height: number;
}

/** Wraps the text to the width. More than `maxLines` lines are cut with an ellipsis. */
export function wrapText(text: string, font: FontName, size: number, width: number, maxLines: number): TextBlock {
  const measure = meter(font, size);
  const longestWord = Math.max(4, Math.floor(width / (size * 0.7)));
  const lines: string[] = [];
  for (const paragraph of breakLongWords(toDrawable(text, font), longestWord, ' ').split('\n')) {
    let line = '';
    for (const word of paragraph.split(/\s+/).filter(Boolean)) {
      const longer = line === '' ? word : `${line} ${word}`;
      if (line !== '' && measure(longer) > width) {
        lines.push(line);
        line = word;
      } else line = longer;
    }
    if (line !== '') lines.push(line);
    if (lines.length > maxLines) break;
  }
  const kept = lines.slice(0, maxLines);
  const last = kept.at(-1);
  if (lines.length > maxLines && last !== undefined) {
    let characters = Array.from(last);
    while (characters.length > 0 && measure(`${characters.join('')}…`) > width) characters = characters.slice(0, -1);
    kept[kept.length - 1] = `${characters.join('')}…`;
  }
  return { font, size, lines: kept, height: kept.length * size * LINE_HEIGHT };
}

/** Returns the letters as SVG path data, placed at `left` and `top`, so that rendering needs no font. */
export function toSvgPath({ font: name, size, lines }: TextBlock, left: number, top: number): string {
  const font = fontOf(name);
  const scale = size / font.unitsPerEm;
  return lines
    .map((line, row) => {
      const baseline = top + size * (0.95 + row * LINE_HEIGHT);
      let pen = left;
      const { glyphs, positions } = font.layout(line);
      return glyphs
        .map((glyph, index) => {
          const { xAdvance = 0, xOffset = 0, yOffset = 0 } = positions[index] ?? {};
          const x = pen + xOffset * scale;
          pen += xAdvance * scale;
          return glyph.path.transform(scale, 0, 0, -scale, x, baseline - yOffset * scale).toSVG();
        })
        .join('');
    })
    .join('');
}

function meter(name: FontName, size: number): (text: string) => number {
  const font = fontOf(name);
  const widths = new Map<string, number>();
  const widthOf = (character: string): number => {
    const known = widths.get(character);
    if (known !== undefined) return known;
    const width = (font.glyphForCodePoint(character.codePointAt(0) ?? 0).advanceWidth * size) / font.unitsPerEm;
    widths.set(character, width);
    return width;
  };
  return (text) => Array.from(text).reduce((sum, character) => sum + widthOf(character), 0);
}
