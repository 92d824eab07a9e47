import type { Download } from '@review/contract';
import { secondsFromNow } from '../../db/time.ts';
import type { Storage } from '../../storage/storage.ts';

export const URL_SECONDS = 60 * 60;

/** A signed URL of stored bytes, under the name that people know them by. */
export async function downloadOf(
  storage: Storage,
  key: string,
  shown: { name: string; mimeType: string | null },
): Promise<Download> {
  const expiresAt = secondsFromNow(URL_SECONDS);
  const type = { name: shown.name, mimeType: shown.mimeType ?? 'application/octet-stream' };
  return { url: await storage.downloadUrl(key, type, URL_SECONDS), expiresAt };
}
