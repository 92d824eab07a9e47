import { PartsMismatch, type StoredPart } from './storage.ts';

const BARE_ETAG = /^[\w+/=.-]{1,128}$/;
const MOST_PARTS = 10_000;

/** The parts by number, each once, their ETags without quotes: clients send them with or without, in any order. */
export function orderedParts(parts: readonly StoredPart[]): StoredPart[] {
  const ordered = parts
    .map(({ partNumber, eTag }) => ({ partNumber, eTag: eTag.replace(/^"(.*)"$/, '$1') }))
    .sort((a, b) => a.partNumber - b.partNumber);
  if (ordered.length === 0) throw new PartsMismatch('No part is named.');
  for (const [index, { partNumber, eTag }] of ordered.entries()) {
    if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > MOST_PARTS || !BARE_ETAG.test(eTag)) {
      throw new PartsMismatch(`There is no part ${partNumber} with that ETag.`);
    }
    if (ordered[index - 1]?.partNumber === partNumber) throw new PartsMismatch(`Part ${partNumber} is named twice.`);
  }
  return ordered;
}
