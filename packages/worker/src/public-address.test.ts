import { expect, test } from 'vitest';
import { isPrivate } from './public-address.ts';

test.each([
  ['8.8.8.8', false],
  ['2606:4700::1111', false],
  ['[2606:4700::1111]', false],
  ['::ffff:8.8.8.8', false],
  ['example.com', false],
  ['::ffff:127.0.0.1', true],
  ['255.255.255.255', true],
])('%s is private: %s', (address, expected) => {
  expect(isPrivate(address)).toBe(expected);
});
