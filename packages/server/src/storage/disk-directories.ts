import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const directoryOf = (storageUrl: string): string =>
  storageUrl.startsWith('file://') ? fileURLToPath(storageUrl) : resolve(storageUrl.replace(/^file:/, ''));

/** The directories that the disk driver creates for itself; none on S3. */
export const diskDirectories = (storageUrl: string): string[] =>
  storageUrl.startsWith('s3:') ? [] : ['objects', 'parts', 'trash'].map((name) => join(directoryOf(storageUrl), name));
