import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import type { Keys } from './secrets.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts a text. `belongsTo` is authenticated too, so that the result cannot be moved to another row. */
export function seal([key]: Keys, belongsTo: string, plain: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(belongsTo));
  const hidden = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString('base64url');
}

/** Decrypts a text that was sealed with one of the keys; null if it was altered or sealed with another key or owner. */
export function unseal(keys: Keys, belongsTo: string, sealed: string): string | null {
  for (const key of keys) {
    try {
      return open(key, belongsTo, sealed);
    } catch {
      // Try the next key.
    }
  }
  return null;
}

function open(key: KeyObject, belongsTo: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64url');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(belongsTo))
    .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const plain = [decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()];
  return Buffer.concat(plain).toString('utf8');
}
