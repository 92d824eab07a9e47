import { LRUCache } from 'lru-cache';

/** Below one second, because a revoked key must stop working within a second on every process. */
const TTL_MS = 500;
const MAX_KEYS = 10_000;

/** Caches the results of a look-up for 500 ms from the first call with a key; failed look-ups are not cached. */
export function ttlCache<Found>(lookUp: (key: string) => Promise<Found>): (key: string) => Promise<Found> {
  const cache = new LRUCache<string, Promise<Found>>({ max: MAX_KEYS, ttl: TTL_MS });
  return (key) => {
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const found = lookUp(key);
    cache.set(key, found);
    found.catch(() => cache.delete(key));
    return found;
  };
}
