import { randomFillSync, randomUUID } from 'node:crypto';

/** Returns a version 7 UUID. It sorts by creation time, so that indexes grow at one end. */
export function newUuid(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  // `randomUUID` draws its random bytes in advance.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Returns a prefixed id with 100 random bits. */
export function newId(prefix: 'FX' | 'DX' | 'GA' | 'CA' | 'SK' | 'SV'): string {
  const bytes = randomFillSync(new Uint8Array(20));
  return prefix + Array.from(bytes, (byte) => CROCKFORD.charAt(byte & 31)).join('');
}
