import { RATE_WINDOW_SECONDS, type Tier } from '@review/contract';
import type { Request, Response } from 'express';
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import type { Deps } from '../deps.ts';
import type { Caller } from './authenticate.ts';
import { ProblemError } from './problem.ts';

export interface RateLimiter {
  /** Counts a call of an operation by the caller, or refuses it. */
  count(operation: string, tier: Tier, caller: Caller, response: Response): Promise<void>;
  /** Counts a refused credential by the address it came from, or refuses to say more. */
  countFailure(request: Request, response: Response): Promise<void>;
}

/** Fixed windows, exact over several processes: counted in Postgres; in memory on SQLite, which has one process. */
export function rateLimiter({ config, opened, log }: Deps): RateLimiter {
  const limits = config.rateLimits;
  if (limits === null) return { count: async () => {}, countFailure: async () => {} };

  const limiter = (name: string, points: number): RateLimiterAbstract => {
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

  async function consume(name: string, points: number, by: RateLimiterAbstract, key: string, response: Response) {
    let refused = false;
    const outcome = await by.consume(key).catch((refusal: unknown) => {
      // Not every refusal says how much was consumed: one that is remembered from an earlier call does not.
      refused = true;
      if (refusal instanceof RateLimiterRes) return refusal;
      log.error({ err: refusal }, 'the rate limit could not be counted');
      throw new ProblemError('NOT_READY');
    });
    const secondsLeft = Math.max(1, Math.ceil(outcome.msBeforeNext / 1000));
    const remaining = refused ? 0 : points - outcome.consumedPoints;
    response.set('RateLimit-Policy', `"${name}";q=${points};w=${RATE_WINDOW_SECONDS}`);
    response.set('RateLimit', `"${name}";r=${remaining};t=${secondsLeft}`);
    if (refused) {
      throw new ProblemError('RATE_LIMITED', {
        detail: `At most ${points} requests in ${RATE_WINDOW_SECONDS} seconds; ${secondsLeft} seconds are left.`,
        headers: { 'Retry-After': String(secondsLeft) },
      });
    }
  }

  const tiers = {
    default: limiter('default', limits.tiers.default),
    'tier-2': limiter('tier-2', limits.tiers['tier-2']),
    'tier-3': limiter('tier-3', limits.tiers['tier-3']),
    'tier-4': limiter('tier-4', limits.tiers['tier-4']),
  } satisfies Record<Tier, RateLimiterAbstract>;
  const failures = limiter('failed-credentials', limits.failedCredentials);

  return {
    count: (operation, tier, caller, response) =>
      consume(tier, limits.tiers[tier], tiers[tier], `${caller.credentialId}:${operation}`, response),
    countFailure: (request, response) =>
      consume('failed-credentials', limits.failedCredentials, failures, request.ip ?? 'unknown', response),
  };
}
