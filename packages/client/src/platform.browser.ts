import type { Hash, Landing } from './platform.ts';

export { sha256 } from './sha256.ts';

const noPaths = () =>
  new TypeError('A browser has no paths: give a File or a Blob to upload, and download without `to`.');

export const openPath = async (_path: string): Promise<{ blob: Blob; name: string }> => {
  throw noPaths();
};

export const land = async (_path: string, _id: string): Promise<Landing> => {
  throw noPaths();
};

export type { Hash };
