import { FAMILIES } from '@review/contract';
import { expect, test } from 'vitest';
import { ADAPTERS, loadDescription } from './index.ts';

test('every family of the contract has the description that its file exports', async () => {
  expect(Object.keys(ADAPTERS)).toEqual(FAMILIES);
  for (const family of FAMILIES) expect(ADAPTERS[family]).toBe(await loadDescription(family));
});

test.each([
  ['has no file', 'sora', 'The adapter of sora cannot be loaded from families/sora.ts.'],
  ['has a file without a description', 'audio', 'families/audio.ts must export exactly one FamilyDescription.'],
])('a family that %s is refused with the name of the file', async (_, family, message) => {
  await expect(loadDescription(family)).rejects.toThrow(message);
});
