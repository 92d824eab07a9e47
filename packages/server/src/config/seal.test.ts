import { createSecretKey, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { seal, unseal } from './seal.ts';

const newKey = () => createSecretKey(randomBytes(32));
const key = [newKey()] as const;

test.each(['', 'a', '\u{1F3AC}'.repeat(100)])('a sealed text is decrypted: %.5s', (plain) => {
  expect(unseal(key, 'owner', seal(key, 'owner', plain))).toBe(plain);
});

test('sealing the same text twice differs, and does not contain the text', () => {
  const [one, other] = [seal(key, 'owner', 'secret text'), seal(key, 'owner', 'secret text')];
  expect(one).not.toBe(other);
  expect(Buffer.from(one, 'base64url').includes('secret text')).toBe(false);
});

test('any altered bit, in nonce, tag or text, is refused', () => {
  const bytes = Buffer.from(seal(key, 'owner', 'secret text'), 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const altered = Buffer.from(bytes);
    altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(unseal(key, 'owner', altered.toString('base64url'))).toBeNull();
  }
});

test('a shortened one is refused, however short', () => {
  const bytes = Buffer.from(seal(key, 'owner', 'secret text'), 'base64url');
  for (let length = 0; length < bytes.length; length++) {
    expect(unseal(key, 'owner', bytes.subarray(0, length).toString('base64url'))).toBeNull();
  }
});

test('it cannot be decrypted for another owner or with another key', () => {
  const sealed = seal(key, 'owner', 'secret text');
  expect(unseal(key, 'another', sealed)).toBeNull();
  expect(unseal([newKey()], 'owner', sealed)).toBeNull();
  expect(unseal([newKey(), ...key], 'owner', sealed)).toBe('secret text');
});
