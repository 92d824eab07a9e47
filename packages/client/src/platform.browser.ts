import { sha256 as noble } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Hash, PartialFile } from './platform.ts';

/** Uses a library, because `crypto.subtle` cannot hash a stream and needs HTTPS. */
export function sha256(): Hash {
  const hash = noble.create();
  return { update: (bytes) => void hash.update(bytes), hex: () => bytesToHex(hash.digest()) };
}

const pathUnsupported = () =>
  new TypeError('Paths are not available in a browser: upload a File or a Blob, and download without `to`.');

export const openPath = async (_path: string): Promise<{ blob: Blob; name: string }> => {
  throw pathUnsupported();
};

export const openPartialFile = async (_path: string, _id: string): Promise<PartialFile> => {
  throw pathUnsupported();
};
