import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a directory and its missing parents, one after the other. With `recursive`, Node.js tries forever where a file
 * system such as /proc refuses new directories with ENOENT.
 */
export function createDirectory(path: string): void {
  if (existsSync(path)) return;
  createDirectory(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have created it.
    if (!existsSync(path)) throw error;
  }
}
