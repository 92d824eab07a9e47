import { createHash } from 'node:crypto';
import { MAX_PARTS, type UploadedParts } from '@review/contract';

/** Returns the number of parts of an upload: at most MAX_PARTS, each of at least `minSize` bytes. */
export function countParts(size: number, minSize: number): number {
  const partSize = Math.max(minSize, Math.ceil(size / MAX_PARTS));
  const count = Math.max(1, Math.floor(size / partSize));
  // With very small parts, rounding the size up can leave no bytes for the last part.
  return Math.ceil(size / Math.ceil(size / count));
}

/** Returns parts of equal size; the last one has the rest. */
export function planParts(size: number, count: number): { partNumber: number; size: number }[] {
  const even = Math.ceil(size / count);
  return Array.from({ length: count }, (_, index) => ({
    partNumber: index + 1,
    size: Math.min(even, size - even * index),
  }));
}

/** Returns the parts in order and with unquoted ETags; null unless each part is listed exactly once. */
export function normalizeParts(parts: UploadedParts['parts'], count: number): UploadedParts['parts'] | null {
  const ordered = parts
    .map(({ partNumber, eTag }) => ({ partNumber, eTag: eTag.replace(/^"(.*)"$/, '$1') }))
    .sort((a, b) => a.partNumber - b.partNumber);
  const complete = ordered.length === count && ordered.every(({ partNumber }, index) => partNumber === index + 1);
  return complete ? ordered : null;
}

/** Returns a digest of a list of parts. */
export const fingerprintOf = (parts: UploadedParts['parts']): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');
