import { RATE_WINDOW_SECONDS, type Tier } from '@review/contract';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Deps } from '../deps.ts';
import type { Caller } from '../request/caller.ts';
import { ProblemError } from '../request/problem.ts';
import { type Count, SharedCounts } from './shared-counts.ts';

export interface RateLimiter {
  /** Whether the caller's limit is known to be reached, so that the next call is refused. */
  isExhausted(operation: string, tier: Tier, caller: Caller): boolean;
  /** Counts a call of an operation by the caller. Throws RATE_LIMITED over the limit, as the other counters do. */
  count(operation: string, tier: Tier, caller: Caller, response: Response): Promise<void>;
  /** Takes back one count, for a response that cost nothing. */
  refund(operation: string, tier: Tier, caller: Caller, response: Response): Promise<void>;
  /** Counts a call of an operation by IP address. */
  countAddress(operation: string, points: number, request: Request, response: Response): Promise<void>;
  /** Counts a refused credential by IP address. */
  countFailure(request: Request, response: Response): Promise<void>;
}

const UNLIMITED: RateLimiter = {
  isExhausted: () => false,
  count: async () => {},
  refund: async () => {},
  countAddress: async () => {},
  countFailure: async () => {},
};

const MAX_REFUSED = 10_000;

/** Fixed-window limits. Counted in Postgres, so that they hold across processes; in memory with SQLite. */
export function rateLimiter({ config, opened }: Deps): RateLimiter {
  const limits = config.rateLimits;
  if (limits === null) return UNLIMITED;
  const shared = opened.dialect === 'postgres' ? new SharedCounts(opened.db, RATE_WINDOW_SECONDS) : null;

  function window(name: string, points: number) {
    const memory = new RateLimiterMemory({ keyPrefix: name, points, duration: RATE_WINDOW_SECONDS });
    const addInMemory = (key: string, change: 1 | -1) => (change === 1 ? memory.penalty(key) : memory.reward(key));
    /** While Postgres does not respond, each process counts for itself. */
    const add = (key: string, change: 1 | -1): Promise<Count> =>
      shared === null
        ? addInMemory(key, change)
        : shared.add(`${name}:${key}`, change).catch(() => addInMemory(key, change));
    const policy = `"${name}";q=${points};w=${RATE_WINDOW_SECONDS}`;
    const show = (response: Response, { consumedPoints, msBeforeNext }: Count) => {
      const remaining = Math.max(0, points - consumedPoints);
      response.setHeader('RateLimit-Policy', policy);
      response.setHeader('RateLimit', `"${name}";r=${remaining};t=${secondsLeft(msBeforeNext)}`);
    };
    /** The ends of windows whose limit is reached, so that further calls cost no statement. They do not move with the host's clock. */
    let refusedUntil: LRUCache<string, number> | undefined;
    const msRefusedFor = (key: string) => (refusedUntil?.get(key) ?? 0) - performance.now();
    return {
      isExhausted: (key: string) => msRefusedFor(key) > 0,
      async count(key: string, response: Response): Promise<void> {
        const msRefused = msRefusedFor(key);
        const count = msRefused > 0 ? { consumedPoints: points + 1, msBeforeNext: msRefused } : await add(key, 1);
        show(response, count);
        if (count.consumedPoints <= points) return;
        // Only now, because it allocates memory for all its keys.
        refusedUntil ??= new LRUCache({ max: MAX_REFUSED });
        refusedUntil.set(key, performance.now() + Math.min(count.msBeforeNext, RATE_WINDOW_SECONDS * 1000));
        throw rateLimited(points, secondsLeft(count.msBeforeNext));
      },
      async refund(key: string, response: Response): Promise<void> {
        refusedUntil?.delete(key);
        show(response, await add(key, -1));
      },
    };
  }

  const tiers = {
    default: window('default', limits.default),
    'tier-2': window('tier-2', limits['tier-2']),
    'tier-3': window('tier-3', limits['tier-3']),
    'tier-4': window('tier-4', limits['tier-4']),
  } satisfies Record<Tier, unknown>;
  const failures = window('failed-credentials', limits['failed-credentials']);
  const addresses = new Map<number, ReturnType<typeof window>>();

  const keyOf = (caller: Caller, operation: string) => `${caller.credentialId}:${operation}`;

  return {
    isExhausted: (operation, tier, caller) => tiers[tier].isExhausted(keyOf(caller, operation)),
    count: (operation, tier, caller, response) => tiers[tier].count(keyOf(caller, operation), response),
    refund: (operation, tier, caller, response) => tiers[tier].refund(keyOf(caller, operation), response),
    countAddress(operation, points, request, response) {
      const limit = addresses.get(points) ?? window('per-address', points);
      addresses.set(points, limit);
      return limit.count(`${addressOf(request)}:${operation}`, response);
    },
    countFailure: (request, response) => failures.count(addressOf(request), response),
  };
}

/** At most a window: with counts in memory, more seems to remain after the clock of the host was set back. */
const secondsLeft = (milliseconds: number) =>
  Math.min(RATE_WINDOW_SECONDS, Math.max(1, Math.ceil(milliseconds / 1000)));

const addressOf = (request: Request) => request.ip ?? 'unknown';

const rateLimited = (points: number, seconds: number) =>
  new ProblemError('RATE_LIMITED', {
    detail: `At most ${points} requests are allowed in ${RATE_WINDOW_SECONDS} seconds. Retry in ${seconds} seconds.`,
    headers: { 'Retry-After': String(seconds) },
  });
