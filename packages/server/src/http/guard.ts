import type { Route } from '@review/contract';
import type { Request, Response } from 'express';
import type { Deps } from '../deps.ts';
import type { Caller } from '../request/caller.ts';
import { ProblemError } from '../request/problem.ts';
import { authenticator, type Resource } from './authenticate.ts';
import { requireScope } from './authorize.ts';
import { type RateLimiter, rateLimiter } from './rate-limit.ts';

/** The checks before any look-up: credential, rate limit and scope. */
export interface Guard {
  limiter: RateLimiter;
  authenticate(request: Request, response: Response, resource?: Resource): Promise<Caller>;
  /** Whether the request's credential would still be accepted; not counted. */
  isStillValid(request: Request, resource?: Resource): Promise<boolean>;
  /** Counts the call against its rate limits and requires its scope. */
  check(operation: { name: string; route: Route }, caller: Caller, request: Request, response: Response): Promise<void>;
}

/** Shared by routes and tools, so that a call counts the same by either way. */
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
    async check({ name, route: { metadata } }, caller, request, response) {
      await limiter.count(name, metadata.tier, caller, response);
      if (metadata.perAddress) await limiter.countAddress(name, metadata.perAddress, request, response);
      requireScope(metadata, caller);
    },
  };
}
