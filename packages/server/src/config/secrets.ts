import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Keys of one purpose: the first one signs and seals, any of them verifies and unseals. */
export type Keys = readonly [current: Buffer, ...previous: Buffer[]];

export interface Secrets {
  cursor: Keys;
  /** Seals the keys of access links. */
  accessLinks: Keys;
  /** Hashes the keys of access links, to find a link by its key. */
  accessLinkHashes: Keys;
  blobs: Keys;
}

/** One key per purpose and secret, derived from SECRET_KEY and from the previous one while there is one. */
export function deriveSecrets(secretKey: string, previousSecretKey: string | null): Secrets {
  const derive = (secret: string, purpose: string) =>
    Buffer.from(hkdfSync('sha256', secret, '', `project-review:${purpose}`, 32));
  const keysFor = (purpose: string): Keys =>
    previousSecretKey === null
      ? [derive(secretKey, purpose)]
      : [derive(secretKey, purpose), derive(previousSecretKey, purpose)];
  return {
    cursor: keysFor('cursor'),
    accessLinks: keysFor('access-links'),
    accessLinkHashes: keysFor('access-link-hashes'),
    blobs: keysFor('blobs'),
  };
}

const MIN_MAC_BYTES = 16;

/** Whether one of the keys made the MAC of the parts, which may be cut to its first 16 bytes or more. */
export const isMac = (keys: Keys, mac: Buffer, ...parts: (string | Buffer)[]): boolean =>
  mac.length >= MIN_MAC_BYTES &&
  keys.some((key) => {
    const expected = hmac(key, ...parts).subarray(0, mac.length);
    return expected.length === mac.length && timingSafeEqual(expected, mac);
  });

export function hmac(key: Buffer, ...parts: (string | Buffer)[]): Buffer {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}
