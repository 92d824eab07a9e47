import type { RenditionKind } from '@review/contract';
import { LRUCache } from 'lru-cache';
import { timestamp } from '../../db/time.ts';
import type { Storage } from '../../storage/storage.ts';

/** URLs change at the end of each period, and are valid for one more. */
const PERIOD_MS = 60 * 60 * 1000;
const MAX_CACHED = 20_000;

interface StoredRendition {
  kind: RenditionKind;
  storage_key: string;
  mime_type: string;
}

interface StableUrl {
  url: string;
  expiresAt: string;
}

/** The URLs of one period, by the key of the object. */
interface Period {
  signedAt: number;
  expiresAt: string;
  urls: LRUCache<string, StableUrl>;
}

/** Lists show 50 thumbnails, and a signature costs more than the rest of a record. */
const periods = new WeakMap<Storage, Period>();

function periodOf(storage: Storage): Period {
  const signedAt = Math.floor(Date.now() / PERIOD_MS) * PERIOD_MS;
  const known = periods.get(storage);
  if (known?.signedAt === signedAt) return known;
  const expiresAt = timestamp((signedAt + 2 * PERIOD_MS) * 1000);
  const period = { signedAt, expiresAt, urls: new LRUCache<string, StableUrl>({ max: MAX_CACHED }) };
  periods.set(storage, period);
  return period;
}

/** Returns a presigned URL that stays the same for an hour, so that caches and ETags work. */
export async function stableUrl(storage: Storage, { kind, storage_key: key, mime_type }: StoredRendition) {
  const { signedAt, expiresAt, urls } = periodOf(storage);
  const known = urls.get(key);
  if (known !== undefined) return known;
  const as = { name: `${kind.toLowerCase()}.${EXTENSIONS[mime_type] ?? 'bin'}`, mimeType: mime_type };
  const url = await storage.downloadUrl(key, as, (2 * PERIOD_MS) / 1000, new Date(signedAt));
  const stable = { url, expiresAt };
  urls.set(key, stable);
  return stable;
}

const EXTENSIONS: Record<string, string> = { 'image/webp': 'webp', 'video/mp4': 'mp4', 'application/json': 'json' };

/** Returns the URL of a thumbnail by its key; null without one. Only a URL that is not cached takes a promise. */
export function thumbnailUrl(storage: Storage, key: string | null | undefined): string | null | Promise<string> {
  if (key == null) return null;
  return periodOf(storage).urls.get(key)?.url ?? signThumbnail(storage, key);
}

const signThumbnail = async (storage: Storage, key: string): Promise<string> =>
  (await stableUrl(storage, { kind: 'THUMBNAIL', storage_key: key, mime_type: 'image/webp' })).url;

/** Returns the URL of the thumbnail of each file; null without one. */
export async function thumbnailUrls(
  storage: Storage,
  files: { thumbnail_key: string | null }[],
): Promise<(string | null)[]> {
  const urls: (string | null)[] = [];
  for (const { thumbnail_key: key } of files) {
    const url = thumbnailUrl(storage, key);
    urls.push(url instanceof Promise ? await url : url);
  }
  return urls;
}
