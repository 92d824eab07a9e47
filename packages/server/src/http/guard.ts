import type { Route } from '@review/contract';
import type { Request, Response } from 'express';
import type { Deps } from '../deps.ts';
import type { Caller } from '../request/caller.ts';
import { ProblemError } from '../request/problem.ts';
import { authenticator, type Resource } from './authenticate.ts';
import { hasScope, requireScope } from './authorize.ts';
import { type RateLimiter, rateLimiter } from './rate-limit.ts';

/** The checks that need no subject: credential, rate limit and scope. */
export interface Guard {
  limiter: RateLimiter;
  authenticate(request: Request, response: Response, resource?: Resource): Promise<Caller>;
  /** Whether the request's credential is still accepted. Does not count against a rate limit. */
  isStillValid(request: Request, resource?: Resource): Promise<boolean>;
  /** Whether the check will refuse the call, as far as that is known before the call is counted. */
  willRefuse(operation: { name: string; route: Route }, caller: Caller): boolean;
  /** Counts the call against its rate limits and requires its scope. */
  check(operation: { name: string; route: Route }, caller: Caller, request: Request, response: Response): Promise<void>;
}

/** Routes and tools share one guard, so that both count against the same rate limits. */
export function createGuard(deps: Deps): Guard {
  const limiter = rateLimiter(deps);
  const identify = authenticator(deps);
  return {
    limiter,
    authenticate: (request, response, resource) =>
      identify(request.get('authorization'), resource).catch(async (refusal: unknown) => {
        if (refusal instanceof ProblemError && refusal.status === 401) await limiter.countFailure(request, response);
        throw refusal;
      }),
    isStillValid: (request, resource) =>
      identify(request.get('authorization'), resource).then(
        () => true,
        (refusal: unknown) => !(refusal instanceof ProblemError && refusal.status === 401),
      ),
    willRefuse: ({ name, route: { metadata } }, caller) =>
      limiter.isExhausted(name, metadata.tier, caller) || !hasScope(metadata, caller),
    async check({ name, route: { metadata } }, caller, request, response) {
      await limiter.count(name, metadata.tier, caller, response);
      if (metadata.perAddress) await limiter.countAddress(name, metadata.perAddress, request, response);
      requireScope(metadata, caller);
    },
  };
}
