import type { Keys } from '../config/secrets.ts';
import { openDisk } from './disk.ts';
import { directoryOf } from './disk-directories.ts';
import { openS3 } from './s3.ts';
import type { Storage } from './storage.ts';

interface StorageOptions {
  /** `file:<directory>` or `s3://<bucket>/<prefix>?region=&endpoint=&forcePathStyle=`. */
  storageUrl: string;
  publicUrl: string;
  /** Signs the URLs of the disk; S3 signs with its own credentials. */
  signingKeys: Keys;
}

export function openStorage({ storageUrl, publicUrl, signingKeys }: StorageOptions): Storage & AsyncDisposable {
  return storageUrl.startsWith('s3:') ? openS3(storageUrl) : openDisk(directoryOf(storageUrl), publicUrl, signingKeys);
}
