import { created, getForm, parameterPointer, type Route } from '@review/contract';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { ProblemError } from '../request/problem.ts';
import { requireSubject } from './authorize.ts';
import { bind, type Carry } from './bind.ts';
import { NotModified, setETag } from './conditional.ts';
import { disconnectSignal } from './disconnect-signal.ts';
import type { Guard } from './guard.ts';
import { attempt, idempotencyKey } from './idempotency.ts';
import { type OperationsOn, onMatch } from './if-match.ts';
import { carryOut, type Operation } from './operations.ts';
import { isQuery } from './query-method.ts';
import { readBody } from './read-body.ts';
import type { RouteTable } from './route-table.ts';

/** Enters every route of the contract with its handler, behind the checks that enforce the route's rules. */
export function enterContract(
  table: RouteTable,
  deps: Deps,
  guard: Guard,
  operations: Operation[],
  operationsOn: OperationsOn,
): void {
  const all = [...operations, ...operations.flatMap((operation) => listByGet(operation) ?? [])];
  bind(table, all, carryRoute(deps, guard, operationsOn));
  for (const path of new Set(all.map(({ route }) => route.path))) table.refuseOtherMethods(path);
}

/** The GET form of a QUERY operation: the query string replaces the body. Null if the route has none. */
function listByGet(operation: Operation): Operation | null {
  const route = getForm(operation.route);
  return route && { ...operation, route, bodyInQuery: true };
}

/**
 * Carries out an operation for an HTTP request: behind the guard, once per idempotency key, only if `If-Match` matches.
 * Sets the headers of the response.
 */
function carryRoute(deps: Deps, guard: Guard, operationsOn: OperationsOn): Carry<Route> {
  const { config, db } = deps;

  return async (operation, { query, request, response }) => {
    const { name, route, bodyInQuery } = operation;
    const { conditional, ifMatch, location, subject: kind, tier } = route.metadata;
    response.locals.operation = name;
    if (isQuery(route) || bodyInQuery) response.set('Cache-Control', 'private, no-store');
    const caller = await guard.authenticate(request, response);
    await guard.check(operation, caller, request, response);
    const disconnected = () => disconnectSignal(response);
    const answer = await carryOut(operation, {
      authorize: async () => ({
        caller,
        subject: await requireSubject(deps, route.metadata, caller, request.params['id']),
      }),
      read: async () => ({ query, body: await readBody(request, response, route, config.bodyLimit) }),
      queryPointer: '#query',
      begin: async (granted, { body }) => {
        const { method, path } = request;
        const first = await attempt(db, caller, idempotencyKey(request, route), { method, path, body });
        if (first.replayed) response.set('Idempotency-Replayed', 'true');
        const known = ifMatch && kind !== null ? request.get('if-match') : undefined;
        if (known === undefined || kind === null) return first;
        return onMatch(first, known, kind, granted, disconnected, operationsOn);
      },
      disconnected,
    }).catch((refusal: unknown) => {
      throw bodyInQuery ? pointingIntoQuery(refusal, request.query) : refusal;
    });
    if (conditional && setETag(request, response, answer)) {
      await guard.limiter.refund(name, tier, caller, response);
      throw new NotModified();
    }
    if (location != null) response.set('Location', config.publicUrl + location.replace(':id', idIn(answer)));
    return answer;
  };
}

/** Rewrites the pointers of a problem from body fields to query parameters. */
function pointingIntoQuery(refusal: unknown, query: object): unknown {
  if (!(refusal instanceof ProblemError) || refusal.errors === undefined) return refusal;
  const errors = refusal.errors.map((error) =>
    error.pointer.startsWith('#query') ? error : { ...error, pointer: parameterPointer(error.pointer, query) },
  );
  return new ProblemError(refusal.code, { detail: refusal.message, errors, headers: refusal.headers });
}

const Created = created(z.string());
const idIn = (answer: unknown): string => Created.parse(answer).data.id;
