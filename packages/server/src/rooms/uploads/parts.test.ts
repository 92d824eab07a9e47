import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countParts, fingerprintOf, normalizeParts, planParts } from './parts.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

const plan = (size: number, least: number) => planParts(size, countParts(size, least));

const anySize = fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 5 * GIB }));
const anyLeast = fc.oneof(
  fc.constant(8 * MIB),
  fc.integer({ min: 1, max: 1000 }),
  fc.integer({ min: 1, max: 5 * GIB }),
);
const forAll = (holds: (size: number, least: number) => void) =>
  fc.assert(fc.property(anySize, anyLeast, holds), { numRuns: 300 });

test('the sizes of the parts sum up to the whole, and none is empty', () => {
  forAll((size, least) => {
    const sizes = plan(size, least).map((part) => part.size);
    expect(sizes.reduce((sum, part) => sum + part, 0)).toBe(size);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
  });
});

test('there are at most 10,000 parts, numbered from 1', () => {
  forAll((size, least) => {
    const parts = plan(size, least);
    expect(parts.length).toBeLessThanOrEqual(10_000);
    expect(parts.every(({ partNumber }, index) => partNumber === index + 1)).toBe(true);
  });
});

test('all parts but the last are equal, and the last is not larger', () => {
  forAll((size, least) => {
    const [first = 0, ...others] = plan(size, least).map((part) => part.size);
    expect(others.slice(0, -1).every((part) => part === first)).toBe(true);
    expect(others.at(-1) ?? first).toBeLessThanOrEqual(first);
  });
});

test('only the last part is smaller than the minimum part size', () => {
  forAll((size, least) => {
    const sizes = plan(size, least).map((part) => part.size);
    expect(sizes.slice(0, -1).every((part) => part >= least)).toBe(true);
  });
});

test('a client that splits evenly by the count gets the same parts', () => {
  forAll((size, least) => {
    const parts = plan(size, least);
    const even = Math.ceil(size / parts.length);
    const agrees = parts.every((part, index) => part.size === Math.min(even, size - index * even));
    expect(agrees).toBe(true);
  });
});

test('the count is max(1, floor(size / part size)) if no part would be empty', () => {
  forAll((size, least) => {
    const partSize = Math.max(least, Math.ceil(size / 10_000));
    const count = Math.max(1, Math.floor(size / partSize));
    fc.pre(Math.ceil(size / count) * (count - 1) < size);
    expect(countParts(size, least)).toBe(count);
  });
});

test.each([
  [1, 8 * MIB, [1]],
  [8 * MIB, 8 * MIB, [8 * MIB]],
  [16 * MIB - 1, 8 * MIB, [16 * MIB - 1]],
  [16 * MIB, 8 * MIB, [8 * MIB, 8 * MIB]],
  [10, 3, [4, 4, 2]],
  [3, 1, [1, 1, 1]],
])('%i bytes in parts of at least %i', (size, least, sizes) => {
  expect(plan(size, least).map((part) => part.size)).toEqual(sizes);
});

test('10,000 single bytes are 10,000 parts, one byte more needs larger ones', () => {
  expect(plan(10_000, 1)).toHaveLength(10_000);
  expect(plan(10_001, 1).map((part) => part.size)).toEqual([...Array(3333).fill(3), 2]);
});

const eTags = ['a', '"b"', 'c'].map((eTag, index) => ({ partNumber: index + 1, eTag }));

test('parts are ordered and their ETags unquoted', () => {
  const bare = [
    { partNumber: 1, eTag: 'a' },
    { partNumber: 2, eTag: 'b' },
    { partNumber: 3, eTag: 'c' },
  ];
  expect(normalizeParts([...eTags].reverse(), 3)).toEqual(bare);
});

test('a missing, repeated or extra part gives null', () => {
  const [first = { partNumber: 1, eTag: 'a' }] = eTags;
  expect(normalizeParts(eTags.slice(1), 3)).toBeNull();
  expect(normalizeParts([...eTags, first], 3)).toBeNull();
  expect(normalizeParts([first, first, first], 3)).toBeNull();
  expect(normalizeParts(eTags, 2)).toBeNull();
});

test('lists of parts that differ anywhere have different fingerprints', () => {
  const prints = [eTags, eTags.slice(1), eTags.map((part) => ({ ...part, eTag: 'd' }))].map(fingerprintOf);
  expect(new Set(prints).size).toBe(3);
});
