/** A revoked key stops working within a second, on every process: what is remembered is shorter than that. */
const REMEMBERED_MS = 500;
const REMEMBERED_KEYS = 10_000;

/** The same look-up, its answers remembered for a moment. */
export function briefly<Found>(lookUp: (key: string) => Promise<Found>): (key: string) => Promise<Found> {
  const remembered = new Map<string, { found: Promise<Found>; until: number }>();
  return (key) => {
    const known = remembered.get(key);
    if (known && known.until > performance.now()) return known.found;
    if (remembered.size >= REMEMBERED_KEYS) remembered.clear();
    const found = lookUp(key);
    remembered.set(key, { found, until: performance.now() + REMEMBERED_MS });
    // A database that was down for a moment must not be remembered as an answer.
    found.catch(() => remembered.delete(key));
    return found;
  };
}
