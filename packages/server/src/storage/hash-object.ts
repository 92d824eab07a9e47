import { createHash } from 'node:crypto';
import { free } from './free-chunks.ts';
import type { Storage } from './storage.ts';

/** Returns the SHA-256 of an object, in hex. */
export async function hashObject(storage: Storage, key: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of await storage.read(key)) {
    hash.update(chunk);
    free(chunk);
  }
  return hash.digest('hex');
}
