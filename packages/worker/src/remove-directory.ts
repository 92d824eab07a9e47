import { rm } from 'node:fs/promises';

/**
 * Removes a directory and its content; does nothing if it does not exist. Retries for seconds, because the decoder of a killed
 * worker, or one that is being killed, may still write into it: a file that appears during the removal fails it with ENOTEMPTY.
 */
export const removeDirectory = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
