import type { Route } from '@review/contract';
import type { Request, Response } from 'express';
import type { Deps } from '../deps.ts';
import { authenticator, type Caller, type Resource } from './authenticate.ts';
import { requireScope } from './authorize.ts';
import { ProblemError } from './problem.ts';
import { type RateLimiter, rateLimiter } from './rate-limit.ts';

/** The checks that come before anything is looked up: who calls, how often, and with what scopes. */
export interface Door {
  limiter: RateLimiter;
  identify(request: Request, response: Response, resource?: Resource): Promise<Caller>;
  /** Whether the request's credential would still be accepted; not counted. */
  isStillValid(request: Request, resource?: Resource): Promise<boolean>;
  admit(operation: { name: string; route: Route }, caller: Caller, request: Request, response: Response): Promise<void>;
}

/** One door for routes and tools: a call counts the same, whichever way it came. */
export function openDoor(deps: Deps): Door {
  const limiter = rateLimiter(deps);
  const identify = authenticator(deps);
  return {
    limiter,
    identify: (request, response, resource) =>
      identify(request.get('authorization'), resource).catch(async (refusal: unknown) => {
        if (refusal instanceof ProblemError && refusal.status === 401) await limiter.countFailure(request, response);
        throw refusal;
      }),
    isStillValid: (request, resource) =>
      identify(request.get('authorization'), resource).then(
        () => true,
        (refusal: unknown) => !(refusal instanceof ProblemError && refusal.status === 401),
      ),
    async admit({ name, route: { metadata } }, caller, request, response) {
      await limiter.count(name, metadata.tier, caller, response);
      if (metadata.perAddress) await limiter.countAddress(name, metadata.perAddress, request, response);
      requireScope(metadata, caller);
    },
  };
}
