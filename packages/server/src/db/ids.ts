import { randomBytes, randomFillSync } from 'node:crypto';

/** Returns a version 7 UUID. It sorts by creation time, so that indexes grow at one end. */
export function newUuid(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Returns a prefixed id with 100 random bits. */
export function newId(prefix: 'FX' | 'DX' | 'GA' | 'CA' | 'SK' | 'SV'): string {
  const bytes = randomFillSync(new Uint8Array(20));
  return prefix + Array.from(bytes, (byte) => CROCKFORD.charAt(byte & 31)).join('');
}
