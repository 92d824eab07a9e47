import { type Contract, contract, created, type Room, type Route, successStatus } from '@review/contract';
import { createExpressEndpoints } from '@ts-rest/express';
import type { Express, IRouter, Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { authenticator } from './authenticate.ts';
import { requireChangeable, requireScope, requireSubject } from './authorize.ts';
import { isKnown, NotModified } from './conditional.ts';
import { goneSignal } from './gone.ts';
import { attempt, idempotencyKey } from './idempotency.ts';
import { refuseInvalid } from './invalid-request.ts';
import { ProblemError } from './problem.ts';
import { isQuery } from './query-method.ts';
import { type RateLimiter, rateLimiter } from './rate-limit.ts';
import { readBody } from './read-body.ts';

/** Any `Handler`: its own types have been checked where it was written, against its own route. */
type AnyHandler = (request: never) => Promise<unknown>;
/** One for every route: what a room lacks does not compile. */
type HandlersOf<Rooms> = { [R in keyof Rooms]: Record<keyof Rooms[R], AnyHandler> };

interface ParsedRequest {
  query?: unknown;
  body?: unknown;
  req: Request;
  res: Response;
}

interface Operation {
  name: string;
  route: Route;
  handler: AnyHandler;
}

/** Binds every route of the contract to its handler, behind the generic steps that obey the route's rules. */
export function mountContract(app: Express, deps: Deps, handlers: HandlersOf<Contract>): void {
  const operations = operationsOf(contract, handlers);
  const limiter = rateLimiter(deps);
  const steps = genericSteps(deps, limiter);
  const mount = (router: IRouter, mounted: Operation[]) =>
    createExpressEndpoints(
      Object.fromEntries(mounted.map(({ name, route }) => [name, asPost(route)])),
      Object.fromEntries(
        mounted.map((operation) => [
          operation.name,
          { middleware: steps(operation), handler: carryOut(deps, limiter, operation) },
        ]),
      ),
      router,
      { responseValidation: true, logInitialization: false, requestValidationErrorHandler: refuseInvalid },
    );
  mount(
    app,
    operations.filter(({ route }) => !isQuery(route)),
  );
  mount(
    queryRouter(app),
    operations.filter(({ route }) => isQuery(route)),
  );
  refuseOtherMethods(app, operations);
}

function operationsOf<Rooms extends { [R in keyof Rooms]: Room }>(
  all: Rooms,
  handlers: HandlersOf<Rooms>,
): Operation[] {
  const operations: Operation[] = [];
  for (const room in all) operations.push(...operationsIn(room, all[room], handlers[room]));
  return operations;
}

function operationsIn<Verb extends string>(
  room: string,
  routes: Record<Verb, Route>,
  handlers: Record<Verb, AnyHandler>,
): Operation[] {
  const operations: Operation[] = [];
  for (const verb in routes) operations.push({ name: `${room}.${verb}`, route: routes[verb], handler: handlers[verb] });
  return operations;
}

const asPost = (route: Route): Route => (isQuery(route) && 'body' in route ? { ...route, method: 'POST' } : route);

/** ts-rest binds what it takes for a POST; here that is a QUERY. */
function queryRouter(app: Express): IRouter {
  const onlyQuery: RequestHandler = (request, _response, next) =>
    next(request.method === 'QUERY' ? undefined : 'route');
  const post = (path: string, ...handlers: RequestHandler[]) => app.all(path, onlyQuery, ...handlers);
  return Object.create(app, { post: { value: post } });
}

/** In the order that tells a stranger nothing: credential, rate, scope, visibility, role; only then is the body read. */
function genericSteps(deps: Deps, limiter: RateLimiter) {
  const identify = authenticator(deps);
  return ({ name, route }: Operation): RequestHandler[] => [
    async (request, response, next) => {
      response.locals.operation = name;
      if (isQuery(route)) response.set('Cache-Control', 'private, no-store');
      const caller = await identify(request.get('authorization')).catch(async (refusal: unknown) => {
        if (refusal instanceof ProblemError && refusal.status === 401) await limiter.countFailure(request, response);
        throw refusal;
      });
      await limiter.count(name, route.metadata.tier, caller, response);
      if (route.metadata.perAddress) await limiter.countAddress(name, route.metadata.perAddress, request, response);
      requireScope(route.metadata, caller);
      const subject = await requireSubject(deps, route.metadata, caller, String(request.params['id']));
      response.locals.admitted = { caller, subject };
      next();
    },
    readBody(route, deps.config.bodyLimit),
  ];
}

/** The last hop: the handler, once per Idempotency-Key, its writes in one transaction. */
function carryOut(deps: Deps, limiter: RateLimiter, { name, route, handler }: Operation) {
  const status = successStatus(route);
  const changes = route.method !== 'GET' && !isQuery(route);

  return async ({ query, body, req: request, res: response }: ParsedRequest) => {
    const { admitted } = response.locals;
    if (admitted === undefined) throw new Error('a request reached its handler without passing the generic steps');
    const { caller, subject } = admitted;

    const key = idempotencyKey(request, route);
    const { replayed, write, release } = await attempt(deps.db, caller, key, {
      method: request.method,
      path: request.path,
      body,
    });
    if (replayed) response.set('Idempotency-Replayed', 'true');
    try {
      if (changes && !replayed) requireChangeable(route.metadata, subject);
      // The route's own schemas have parsed what the handler is given, which TypeScript cannot follow from here.
      const answer = await handler({
        caller,
        subject,
        query,
        body,
        write,
        get signal() {
          return goneSignal(response);
        },
      } as never);
      if (route.metadata.conditional && isKnown(request, response, answer)) {
        await limiter.refund(name, route.metadata.tier, caller, response);
        throw new NotModified();
      }
      if (route.metadata.location !== undefined) {
        response.set('Location', deps.config.publicUrl + route.metadata.location.replace(':id', idIn(answer)));
      }
      return { status, body: answer };
    } finally {
      await release();
    }
  };
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
  // A path that is spelt out comes before one that takes it for an id.
  const bySpelling = [...methods].sort(([a], [b]) => Number(a.includes(':')) - Number(b.includes(':')));
  for (const [path, allowed] of bySpelling) {
    const allow = [...allowed].sort().join(', ');
    app.all(path, (request, response) => {
      if (request.method !== 'OPTIONS') throw new ProblemError('METHOD_NOT_ALLOWED', { headers: { Allow: allow } });
      response.set('Allow', allow).status(204).end();
    });
  }
}
