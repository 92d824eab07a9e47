import { RATE_WINDOW_SECONDS, type Tier } from '@review/contract';
import type { Request, Response } from 'express';
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import type { Deps } from '../deps.ts';
import type { Caller } from '../request/caller.ts';
import { ProblemError } from '../request/problem.ts';

export interface RateLimiter {
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
  count: async () => {},
  refund: async () => {},
  countAddress: async () => {},
  countFailure: async () => {},
};

/** Fixed-window limits. Counted in Postgres, so that they hold across processes; in memory with SQLite. */
export function rateLimiter({ config, opened, log }: Deps): RateLimiter {
  const limits = config.rateLimits;
  if (limits === null) return UNLIMITED;

  const counter = (name: string, points: number): RateLimiterAbstract => {
    const options = { keyPrefix: name, points, duration: RATE_WINDOW_SECONDS };
    if (opened.pool === null) return new RateLimiterMemory(options);
    return new RateLimiterPostgres({
      ...options,
      storeClient: opened.pool,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      clearExpiredByTimeout: true,
      inMemoryBlockOnConsumed: points,
      insuranceLimiter: new RateLimiterMemory(options),
    });
  };

  function window(name: string, points: number) {
    const counts = counter(name, points);
    const show = (response: Response, remaining: number, { msBeforeNext }: RateLimiterRes) => {
      response.set('RateLimit-Policy', `"${name}";q=${points};w=${RATE_WINDOW_SECONDS}`);
      response.set('RateLimit', `"${name}";r=${remaining};t=${secondsLeft(msBeforeNext)}`);
    };
    return {
      async count(key: string, response: Response): Promise<void> {
        let refused = false;
        const outcome = await counts.consume(key).catch((refusal: unknown) => {
          // A refusal from the in-memory block does not contain the consumed points.
          refused = true;
          if (refusal instanceof RateLimiterRes) return refusal;
          log.error({ err: refusal }, 'rate limit not counted');
          throw new ProblemError('NOT_READY');
        });
        show(response, refused ? 0 : points - outcome.consumedPoints, outcome);
        if (refused) throw rateLimited(points, secondsLeft(outcome.msBeforeNext));
      },
      async refund(key: string, response: Response): Promise<void> {
        const outcome = await counts.reward(key);
        show(response, points - outcome.consumedPoints, outcome);
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

  return {
    count: (operation, tier, caller, response) => tiers[tier].count(`${caller.credentialId}:${operation}`, response),
    refund: (operation, tier, caller, response) => tiers[tier].refund(`${caller.credentialId}:${operation}`, response),
    countAddress(operation, points, request, response) {
      const limit = addresses.get(points) ?? window('per-address', points);
      addresses.set(points, limit);
      return limit.count(`${addressOf(request)}:${operation}`, response);
    },
    countFailure: (request, response) => failures.count(addressOf(request), response),
  };
}

const secondsLeft = (milliseconds: number) => Math.max(1, Math.ceil(milliseconds / 1000));

const addressOf = (request: Request) => request.ip ?? 'unknown';

const rateLimited = (points: number, seconds: number) =>
  new ProblemError('RATE_LIMITED', {
    detail: `At most ${points} requests are allowed in ${RATE_WINDOW_SECONDS} seconds. Retry in ${seconds} seconds.`,
    headers: { 'Retry-After': String(seconds) },
  });
