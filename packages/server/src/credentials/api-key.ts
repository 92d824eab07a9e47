import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'prs_k_';
const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** Returns a key of a prefix for secret scanners, 178 random bits, and a checksum that detects typos without a look-up. */
export function newApiKey(): string {
  const secret = Array.from({ length: SECRET_LENGTH }, () => BASE62.charAt(randomInt(62))).join('');
  return `${PREFIX}${secret}${checksum(secret)}`;
}

export const hasKeyPrefix = (token: string): boolean => token.startsWith(PREFIX);

export function isApiKey(token: string): boolean {
  if (!SHAPE.test(token)) return false;
  const secret = token.slice(PREFIX.length, PREFIX.length + SECRET_LENGTH);
  return token.endsWith(checksum(secret));
}

export const hashApiKey = (key: string): string => hash('sha256', key);

function checksum(secret: string): string {
  let rest = crc32(secret);
  let digits = '';
  while (digits.length < CHECKSUM_LENGTH) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
