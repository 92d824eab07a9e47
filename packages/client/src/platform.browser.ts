import { sha256 as noble } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Hash, Landing } from './platform.ts';

/** Browsers have no hash of their own that takes a stream, and none at all without HTTPS. */
export function sha256(): Hash {
  const hash = noble.create();
  return { update: (bytes) => void hash.update(bytes), hex: () => bytesToHex(hash.digest()) };
}

const noPaths = () =>
  new TypeError('A browser has no paths: give a File or a Blob to upload, and download without `to`.');

export const openPath = async (_path: string): Promise<{ blob: Blob; name: string }> => {
  throw noPaths();
};

export const land = async (_path: string, _id: string): Promise<Landing> => {
  throw noPaths();
};
