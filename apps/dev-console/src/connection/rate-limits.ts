import { useSyncExternalStore } from 'react';

/** The rate limit of an operation as of its last response. */
interface RateUse {
  /** For example `GET /api/files/:id`. */
  operation: string;
  tier: string;
  limit: number;
  remaining: number;
  /** End of the window by the browser's clock. */
  resetsAt: number;
}

let uses: readonly RateUse[] = [];
const listeners = new Set<() => void>();

const ID = /\/(?:[0-9a-f]{8}-[0-9a-f-]{27}|[A-Z]{2}[0-9A-Z]{20})(?=\/|$)/gi;

/** Records the `RateLimit` headers of the IETF draft, for example `RateLimit: "tier-4";r=99;t=60`. */
export function noteRateLimit(method: string, url: string, headers: Headers): void {
  const [, tier, limit] = /"([^"]+)";q=(\d+)/.exec(headers.get('ratelimit-policy') ?? '') ?? [];
  const [, remaining, seconds] = /;r=(\d+);t=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? [];
  if (tier === undefined || remaining === undefined) return;
  const operation = `${method} ${new URL(url).pathname.replace(ID, '/:id')}`;
  const use = {
    operation,
    tier,
    limit: Number(limit),
    remaining: Number(remaining),
    resetsAt: Date.now() + Number(seconds) * 1000,
  };
  uses = [use, ...uses.filter((other) => other.operation !== operation)];
  for (const listener of listeners) listener();
}

export const useRateUses = (): readonly RateUse[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => uses,
  );
