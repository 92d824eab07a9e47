import { hkdfSync } from 'node:crypto';

export interface Secrets {
  cursor: Buffer;
  accessLinks: Buffer;
  blobs: Buffer;
}

/** One key per purpose, all derived from the one secret the operator keeps. */
export function deriveSecrets(secretKey: string): Secrets {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secretKey, '', `project-review:${purpose}`, 32));
  return { cursor: derive('cursor'), accessLinks: derive('access-links'), blobs: derive('blobs') };
}
