import { createHash, randomBytes } from 'node:crypto';

/** 128 random bits, in letters that need no escaping in an address. */
export const newAccessKey = (): string => randomBytes(16).toString('base64url');

/** A key is too random to be guessed from its hash, so a plain one is enough to find its link by. */
export const hashAccessKey = (key: string): string => createHash('sha256').update(key).digest('hex');
