import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { sha256 } from './sha256.ts';

test.each([0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 300_001])('the hash of %i bytes', (length) => {
  const bytes = new Uint8Array(randomBytes(length));
  const hash = sha256();
  for (let from = 0; from < length; from += 100) hash.update(bytes.subarray(from, from + 100));
  expect(hash.hex()).toBe(createHash('sha256').update(bytes).digest('hex'));
});
