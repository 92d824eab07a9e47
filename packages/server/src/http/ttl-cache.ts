import { LRUCache } from 'lru-cache';

/** Below one second, because a revoked key must stop working within a second on every process. */
const TTL_MS = 500;
const MAX_KEYS = 10_000;

interface TtlCache<Found> {
  find(key: string): Promise<Found | undefined>;
  /** Returns undefined if the key is not cached. */
  cached(key: string): Promise<Found | undefined> | undefined;
}

/**
 * Caches the results of a look-up for 500 ms from the first call with a key; failed look-ups are not cached. Keys that are asked
 * for in the same turn of the event loop share a look-up.
 */
export function ttlCache<Found>(lookUp: (keys: string[]) => Promise<ReadonlyMap<string, Found>>): TtlCache<Found> {
  // With a resolution, it would set a timer for each time that it reads.
  const cache = new LRUCache<string, Promise<Found | undefined>>({ max: MAX_KEYS, ttl: TTL_MS, ttlResolution: 0 });
  let batch: { keys: string[]; found: Promise<ReadonlyMap<string, Found>> } | null = null;

  function join(key: string): Promise<ReadonlyMap<string, Found>> {
    if (batch === null) {
      const keys: string[] = [];
      const found = Promise.resolve().then(() => {
        batch = null;
        return lookUp(keys);
      });
      batch = { keys, found };
    }
    batch.keys.push(key);
    return batch.found;
  }

  return {
    cached: (key) => cache.get(key),
    find(key) {
      const cached = cache.get(key);
      if (cached !== undefined) return cached;
      const found = join(key).then((all) => all.get(key));
      cache.set(key, found);
      found.catch(() => cache.delete(key));
      return found;
    },
  };
}
