import { created, getForm, parameterPointer, type Route, successStatus } from '@review/contract';
import { createExpressEndpoints } from '@ts-rest/express';
import type { Express, IRouter, Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { ProblemError } from '../request/problem.ts';
import { requireSubject } from './authorize.ts';
import { NotModified, setETag } from './conditional.ts';
import { disconnectSignal } from './disconnect-signal.ts';
import type { Guard } from './guard.ts';
import { attempt, idempotencyKey } from './idempotency.ts';
import { type OperationsOn, onMatch } from './if-match.ts';
import { refuseInvalid } from './invalid-request.ts';
import { type Operation, perform } from './operations.ts';
import { isQuery } from './query-method.ts';
import { readBody } from './read-body.ts';

interface ParsedRequest {
  query?: unknown;
  body?: unknown;
  req: Request;
  res: Response;
}

/** Mounts every route of the contract with its handler, behind the middleware that enforces the route's rules. */
export function mountContract(
  app: Express,
  deps: Deps,
  guard: Guard,
  operations: Operation[],
  operationsOn: OperationsOn,
): void {
  const mount = (router: IRouter, mounted: Operation[]) =>
    createExpressEndpoints(
      Object.fromEntries(mounted.map(({ name, route }) => [name, asPost(route)])),
      Object.fromEntries(
        mounted.map((operation) => [
          operation.name,
          {
            middleware: ruleMiddleware(deps, guard, operation),
            handler: carryOut(deps, guard, operation, operationsOn),
          },
        ]),
      ),
      router,
      { responseValidation: true, logInitialization: false, requestValidationErrorHandler: refuseInvalid },
    );
  const mountAll = (some: Operation[]) => {
    const lists = some.filter(({ route }) => isQuery(route));
    const byGet = lists.flatMap((operation) => listByGet(operation) ?? []);
    mount(
      app,
      some.filter(({ route }) => !isQuery(route)),
    );
    mount(app, byGet);
    mount(queryRouter(app), lists);
    refuseOtherMethods(app, [...some, ...byGet]);
  };
  // Literal paths come before paths with `:id`, which would match them too.
  const { literal = [], withId = [] } = Object.groupBy(operations, ({ route }) =>
    route.path.includes(':') ? 'withId' : 'literal',
  );
  mountAll(literal);
  mountAll(withId);
}

/** The GET form of a QUERY operation: the query string replaces the body. Null if the route has none. */
function listByGet(operation: Operation): Operation | null {
  const route = getForm(operation.route);
  return route && { ...operation, route, bodyInQuery: true };
}

const asPost = (route: Route): Route => (isQuery(route) && 'body' in route ? { ...route, method: 'POST' } : route);

/** A router whose `post` binds QUERY, because ts-rest mounts these routes as POST. */
function queryRouter(app: Express): IRouter {
  const onlyQuery: RequestHandler = (request, _response, next) =>
    next(request.method === 'QUERY' ? undefined : 'route');
  const post = (path: string, ...handlers: RequestHandler[]) => app.all(path, onlyQuery, ...handlers);
  return Object.create(app, { post: { value: post } });
}

/** Checks credential, rate limit, scope, visibility and role, and only then reads the body. */
function ruleMiddleware(deps: Deps, guard: Guard, { name, route, bodyInQuery }: Operation): RequestHandler[] {
  return [
    async (request, response, next) => {
      response.locals.operation = name;
      if (isQuery(route) || bodyInQuery) response.set('Cache-Control', 'private, no-store');
      const caller = await guard.authenticate(request, response);
      await guard.check({ name, route }, caller, request, response);
      const subject = await requireSubject(deps, route.metadata, caller, String(request.params['id']));
      response.locals.admitted = { caller, subject };
      next();
    },
    readBody(route, deps.config.bodyLimit),
  ];
}

/** Runs the handler once per idempotency key and sets the headers of its response. */
function carryOut(deps: Deps, { limiter }: Guard, operation: Operation, operationsOn: OperationsOn) {
  const { name, route, bodyInQuery } = operation;
  const status = successStatus(route);

  return async ({ query, body, req: request, res: response }: ParsedRequest) => {
    const { admitted } = response.locals;
    if (admitted === undefined) throw new Error('The request reached its handler without passing the middleware.');
    const { caller, subject } = admitted;

    const first = await attempt(deps.db, caller, idempotencyKey(request, route), {
      method: request.method,
      path: request.path,
      body,
    });
    if (first.replayed) response.set('Idempotency-Replayed', 'true');
    const asked = { caller, subject, disconnected: () => disconnectSignal(response) };
    const { ifMatch, subject: kind } = route.metadata;
    const known = ifMatch && kind !== null ? request.get('if-match') : undefined;
    const once = known === undefined || kind === null ? first : onMatch(first, known, kind, asked, operationsOn);
    const answer = bodyInQuery
      ? await perform(operation, { ...asked, query: undefined, body: query }, once).catch((refusal: unknown) => {
          throw pointingIntoQuery(refusal, request.query);
        })
      : await perform(operation, { ...asked, query, body }, once);
    if (route.metadata.conditional && setETag(request, response, answer)) {
      await limiter.refund(name, route.metadata.tier, caller, response);
      throw new NotModified();
    }
    if (route.metadata.location != null) {
      response.set('Location', deps.config.publicUrl + route.metadata.location.replace(':id', idIn(answer)));
    }
    return { status, body: answer };
  };
}

/** Rewrites the pointers of a problem from body fields to query parameters. */
function pointingIntoQuery(refusal: unknown, query: object): unknown {
  if (!(refusal instanceof ProblemError) || refusal.errors === undefined) return refusal;
  const errors = refusal.errors.map((error) => ({ ...error, pointer: parameterPointer(error.pointer, query) }));
  return new ProblemError(refusal.code, { detail: refusal.message, errors, headers: refusal.headers });
}

const Created = created(z.string());
const idIn = (answer: unknown): string => Created.parse(answer).data.id;

function refuseOtherMethods(app: Express, operations: Operation[]): void {
  const methods = new Map<string, Set<string>>();
  for (const { route } of operations) {
    const allowed = methods.get(route.path) ?? new Set(['OPTIONS']);
    allowed.add(String(route.method));
    if (route.method === 'GET') allowed.add('HEAD');
    methods.set(route.path, allowed);
  }
  for (const [path, allowed] of methods) {
    const allow = [...allowed].sort().join(', ');
    app.all(path, (request, response) => {
      if (request.method !== 'OPTIONS') throw new ProblemError('METHOD_NOT_ALLOWED', { headers: { Allow: allow } });
      response.set('Allow', allow).status(204).end();
    });
  }
}
