import type { Download } from '@review/contract';
import { secondsFromNow } from '../../db/time.ts';
import type { Storage } from '../../storage/storage.ts';

export const URL_SECONDS = 60 * 60;

/** Returns a presigned URL that downloads a stored object under a name. */
export async function createDownload(
  storage: Storage,
  key: string,
  file: { name: string; mime_type: string | null },
): Promise<Download> {
  const expiresAt = secondsFromNow(URL_SECONDS);
  const type = { name: file.name, mimeType: file.mime_type ?? 'application/octet-stream' };
  return { url: await storage.downloadUrl(key, type, URL_SECONDS), expiresAt };
}
