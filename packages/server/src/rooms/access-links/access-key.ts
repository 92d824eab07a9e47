import { type KeyObject, randomBytes } from 'node:crypto';
import { hmac, type Keys } from '../../config/secrets.ts';

/** Returns 128 random bits, encoded for URLs. */
export const newAccessKey = (): string => randomBytes(16).toString('base64url');

/**
 * Returns the hash that a link is looked up by. It is an HMAC, so that a copy of the database alone cannot verify a key and
 * a changed SECRET_KEY invalidates old keys. Its prefix identifies the secret, to find rows of other secrets.
 */
export const hashAccessKey = (key: KeyObject, accessKey: string): string =>
  hashPrefix(key) + hmac(key, accessKey).toString('hex');

export const hashPrefix = (key: KeyObject): string => `${hmac(key, 'key id').toString('hex').slice(0, 8)}.`;

/** The hashes of a key under each secret. */
export const hashesOf = (keys: Keys, accessKey: string): string[] => keys.map((key) => hashAccessKey(key, accessKey));
