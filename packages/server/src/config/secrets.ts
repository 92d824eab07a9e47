import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';

/** The keys of one purpose. The first one signs and encrypts; all of them verify and decrypt. */
export type Keys = readonly [current: KeyObject, ...previous: KeyObject[]];

export interface Secrets {
  cursor: Keys;
  /** Encrypts the keys of access links. */
  accessLinks: Keys;
  /** Hashes the keys of access links, to find a link by its key. */
  accessLinkHashes: Keys;
  /** Encrypts the secrets of webhooks. */
  webhooks: Keys;
  blobs: Keys;
}

/** Derives one key per purpose from SECRET_KEY, and another from SECRET_KEY_PREVIOUS if it is set. */
export function deriveSecrets(secretKey: string, previousSecretKey: string | null): Secrets {
  const derive = (secret: string, purpose: string) =>
    // A key object, because node:crypto would create one from bytes for each MAC.
    createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', `project-review:${purpose}`, 32)));
  const keysFor = (purpose: string): Keys =>
    previousSecretKey === null
      ? [derive(secretKey, purpose)]
      : [derive(secretKey, purpose), derive(previousSecretKey, purpose)];
  return {
    cursor: keysFor('cursor'),
    accessLinks: keysFor('access-links'),
    accessLinkHashes: keysFor('access-link-hashes'),
    webhooks: keysFor('webhooks'),
    blobs: keysFor('blobs'),
  };
}

const MIN_MAC_BYTES = 16;

/** Whether the MAC of the parts was made with one of the keys. It may be truncated to 16 bytes or more. */
export const isMac = (keys: Keys, mac: Buffer, ...parts: (string | Buffer)[]): boolean =>
  mac.length >= MIN_MAC_BYTES &&
  keys.some((key) => {
    const expected = hmac(key, ...parts).subarray(0, mac.length);
    return expected.length === mac.length && timingSafeEqual(expected, mac);
  });

export function hmac(key: KeyObject, ...parts: (string | Buffer)[]): Buffer {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}
