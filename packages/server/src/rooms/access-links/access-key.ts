import { randomBytes } from 'node:crypto';
import { hmac, type Keys } from '../../config/secrets.ts';

/** 128 random bits, in letters that need no escaping in an address. */
export const newAccessKey = (): string => randomBytes(16).toString('base64url');

/**
 * The hash that a link is found by. It is keyed, so that a copy of the database alone cannot tell whether a key is good and
 * a changed SECRET_KEY ends old keys. Its prefix names the secret: rows of another one are found without unsealing them.
 */
export const hashAccessKey = (key: Buffer, accessKey: string): string =>
  hashPrefix(key) + hmac(key, accessKey).toString('hex');

export const hashPrefix = (key: Buffer): string => `${hmac(key, 'key id').toString('hex').slice(0, 8)}.`;

/** The hashes of a key under each secret. */
export const hashesOf = (keys: Keys, accessKey: string): string[] => keys.map((key) => hashAccessKey(key, accessKey));
