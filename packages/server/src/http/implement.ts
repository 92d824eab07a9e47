import { created, getForm, parameterPointer, type Route } from '@review/contract';
import type { Request } from 'express';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { ProblemError } from '../request/problem.ts';
import { requireSubject } from './authorize.ts';
import { bind, type Carry, serializer } from './bind.ts';
import { NotModified, setETag } from './conditional.ts';
import { disconnectSignal } from './disconnect-signal.ts';
import { isEventStream, toReadable } from './event-stream.ts';
import type { Guard } from './guard.ts';
import { attempt, idempotencyKey } from './idempotency.ts';
import { type OperationsOn, onMatch } from './if-match.ts';
import { carryOut, type Operation } from './operations.ts';
import { isQuery } from './query-method.ts';
import { readBody } from './read-body.ts';
import type { RouteTable } from './route-table.ts';
import { isSavedFile, toDownload } from './save-file.ts';

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
  const { config } = deps;

  return (operation) => {
    const { name, route, bodyInQuery } = operation;
    const { conditional, ifMatch, location, subject: kind, tier } = route.metadata;
    const isList = isQuery(route) || bodyInQuery;
    const streams = isEventStream(route);
    const serialize = serializer(route);

    return async ({ query, request, response }) => {
      response.locals.operation = name;
      if (isList) response.set('Cache-Control', 'private, no-store');
      const caller = await guard.authenticate(request, response);
      const disconnected = () => disconnectSignal(response);
      const findSubject = () => requireSubject(deps, route.metadata, caller, request.params['id']);
      // Looked up while the call is counted. The refusal of the check comes first.
      const found = guard.willRefuse(operation, caller) ? null : findSubject();
      found?.catch(() => {});
      await guard.check(operation, caller, request, response);
      const stillAllowed = {
        isCredentialValid: () => guard.isStillValid(request),
        findSubject: () => findSubject().catch(undefinedIfRefused),
      };
      const answer = await carryOut(operation, {
        authorize: async () => ({ caller, subject: await (found ?? findSubject()), ...(streams && stillAllowed) }),
        read: async () => ({
          query: streams ? resumed(query, request) : query,
          body: await readBody(request, response, route, config.bodyLimit),
        }),
        queryPointer: '#query',
        begin: async (granted, { body }) => {
          const { method, path } = request;
          const first = await attempt(deps, caller, idempotencyKey(request, route), { method, path, body });
          if (first.replayed) response.set('Idempotency-Replayed', 'true');
          const known = ifMatch && kind !== null ? request.get('if-match') : undefined;
          if (known === undefined || kind === null) return first;
          return onMatch(first, known, kind, granted, disconnected, operationsOn);
        },
        disconnected,
      }).catch((refusal: unknown) => {
        throw bodyInQuery ? pointingIntoQuery(refusal, request.query) : refusal;
      });
      const { requestId } = response.locals;
      const logEnd = (error: Error) =>
        deps.log.warn({ err: error, requestId, operation: name }, 'stream ended by an error');
      if (isAsyncIterable(answer)) return toReadable(answer, request, response, logEnd);
      if (isSavedFile(answer)) return toDownload(answer, request, response, logEnd);
      const body = serialize(answer);
      if (conditional && body !== undefined && setETag(request, response, body)) {
        await guard.limiter.refund(name, tier, caller, response);
        throw new NotModified();
      }
      if (location != null) response.set('Location', config.publicUrl + location.replace(':id', idIn(answer)));
      return body;
    };
  };
}

function undefinedIfRefused(refusal: unknown): undefined {
  if (!(refusal instanceof ProblemError)) throw refusal;
}

const isAsyncIterable = (answer: unknown): answer is AsyncIterable<string> =>
  typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;

/** The query of a stream: the id that a browser sends when it connects again overrides the one in its address. */
const resumed = (query: unknown, request: Request): unknown => {
  const lastEventId = request.get('last-event-id');
  return lastEventId === undefined || typeof query !== 'object' ? query : { ...query, after: lastEventId };
};

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
