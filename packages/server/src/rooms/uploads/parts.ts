import { createHash } from 'node:crypto';
import { MAX_PARTS, type UploadedParts } from '@review/contract';

/** How many parts an upload has: none smaller than `least` bytes (an object store refuses those), but not too many. */
export function countParts(size: number, least: number): number {
  const partSize = Math.max(least, Math.ceil(size / MAX_PARTS));
  const count = Math.max(1, Math.floor(size / partSize));
  // Rounding up the even size can leave nothing for the last of very small parts.
  return Math.ceil(size / Math.ceil(size / count));
}

/** Even parts, the last one the rest. */
export function planParts(size: number, count: number): { partNumber: number; size: number }[] {
  const even = Math.ceil(size / count);
  return Array.from({ length: count }, (_, index) => ({
    partNumber: index + 1,
    size: Math.min(even, size - even * index),
  }));
}

/** The parts in order and without quotes, if each of them is named exactly once. */
export function everyPartOnce(parts: UploadedParts['parts'], count: number): UploadedParts['parts'] | null {
  const ordered = parts
    .map(({ partNumber, eTag }) => ({ partNumber, eTag: eTag.replace(/^"(.*)"$/, '$1') }))
    .sort((a, b) => a.partNumber - b.partNumber);
  const complete = ordered.length === count && ordered.every(({ partNumber }, index) => partNumber === index + 1);
  return complete ? ordered : null;
}

/** Tells one list of parts from another. */
export const fingerprintOf = (parts: UploadedParts['parts']): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');
