import { PartsMismatch, type StoredPart } from './storage.ts';

const BARE_ETAG = /^[\w+/=.-]{1,128}$/;
const MAX_PARTS = 10_000;

/** Returns the parts in order of their numbers, with unquoted ETags. Clients send either form in any order. */
export function orderedParts(parts: readonly StoredPart[]): StoredPart[] {
  const ordered = parts
    .map(({ partNumber, eTag }) => ({ partNumber, eTag: eTag.replace(/^"(.*)"$/, '$1') }))
    .sort((a, b) => a.partNumber - b.partNumber);
  if (ordered.length === 0) throw new PartsMismatch('The list of parts is empty.');
  for (const [index, { partNumber, eTag }] of ordered.entries()) {
    if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > MAX_PARTS || !BARE_ETAG.test(eTag)) {
      throw new PartsMismatch(`There is no part ${partNumber} with that ETag.`);
    }
    if (ordered[index - 1]?.partNumber === partNumber) throw new PartsMismatch(`Part ${partNumber} is listed twice.`);
  }
  return ordered;
}
