import { readFileSync } from 'node:fs';
import { type FontName, fontOf, fontPath } from '../fonts.ts';

/** A font with a single letter, with the shape of an A and the name of a shipped font. */
export function fontWithOnly(letter: string, base: FontName = 'DejaVuSansMono'): Buffer {
  const font = Buffer.from(readFileSync(fontPath(base)));
  const glyph = fontOf(base).glyphForCodePoint(65).id;
  const codePoint = letter.codePointAt(0) ?? 0;
  const map = Buffer.alloc(40);
  // A cmap table (platform Windows, full Unicode, format 12) with one group of one letter.
  map.writeUInt16BE(1, 2);
  map.writeUInt16BE(3, 4);
  map.writeUInt16BE(10, 6);
  map.writeUInt32BE(12, 8);
  map.writeUInt16BE(12, 12);
  map.writeUInt32BE(28, 16);
  map.writeUInt32BE(1, 24);
  map.writeUInt32BE(codePoint, 28);
  map.writeUInt32BE(codePoint, 32);
  map.writeUInt32BE(glyph, 36);
  const entry = entriesOf(font, 0).find((at) => font.toString('latin1', at, at + 4) === 'cmap') ?? 0;
  font.writeUInt32BE(font.length, entry + 8);
  font.writeUInt32BE(map.length, entry + 12);
  return Buffer.concat([font, map]);
}

/** The font as the only one of a collection. */
export function collectionOf(font: Buffer): Buffer {
  const header = Buffer.alloc(16);
  header.write('ttcf');
  header.writeUInt32BE(0x10000, 4);
  header.writeUInt32BE(1, 8);
  header.writeUInt32BE(16, 12);
  const collection = Buffer.concat([header, font]);
  for (const at of entriesOf(collection, 16)) collection.writeUInt32BE(collection.readUInt32BE(at + 8) + 16, at + 8);
  return collection;
}

const entriesOf = (font: Buffer, start: number): number[] =>
  Array.from({ length: font.readUInt16BE(start + 4) }, (_, index) => start + 12 + 16 * index);
