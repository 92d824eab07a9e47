import { type IRouter, type RequestHandler, Router } from 'express';
import { ProblemError } from '../request/problem.ts';
import { chain } from './chain.ts';

/** Finds a route with one look-up per segment of the path, where Express tries one route after another. */
export interface RouteTable {
  /** Returns a router for ts-rest. A route that is bound to it by any method is entered under `method`. */
  entering(method: string): IRouter;
  /** Answers the other methods of a path with 405, and OPTIONS with 204, after its routes are entered. */
  refuseOtherMethods(path: string): void;
  /** Passes a request to its route, or on to the next handler if there is none. */
  handle: RequestHandler;
}

/** The routes of one path. */
interface Routes {
  /** The name and segment of each parameter. */
  parameters: [name: string, segment: number][];
  byMethod: Map<string, RequestHandler>;
  otherMethods?: RequestHandler;
}

/** One segment of the entered paths. */
interface Segment {
  literals: Map<string, Segment>;
  parameter?: Segment;
  /** Of the path that ends here. */
  routes?: Routes;
}

/** Matches like an Express router that is case-sensitive and strict, with literal segments before parameters. */
export function routeTable(): RouteTable {
  const root: Segment = { literals: new Map() };

  function routesOf(path: string): Routes {
    let last = root;
    const parameters: Routes['parameters'] = [];
    for (const [index, text] of path.split('/').entries()) {
      if (text.startsWith(':')) {
        parameters.push([text.slice(1), index]);
        last.parameter ??= { literals: new Map() };
        last = last.parameter;
      } else {
        const next = last.literals.get(text) ?? { literals: new Map() };
        last.literals.set(text, next);
        last = next;
      }
    }
    last.routes ??= { parameters, byMethod: new Map() };
    return last.routes;
  }

  return {
    entering(method) {
      const enter = (path: string, ...handlers: RequestHandler[]) => {
        const { byMethod } = routesOf(path);
        if (byMethod.has(method)) throw new Error(`${method} ${path} has two routes`);
        byMethod.set(method, chain(handlers));
      };
      return Object.assign(Router(), { get: enter, post: enter, put: enter, patch: enter, delete: enter });
    },
    refuseOtherMethods(path) {
      const routes = routesOf(path);
      const methods = new Set(['OPTIONS', ...routes.byMethod.keys()]);
      if (methods.has('GET')) methods.add('HEAD');
      const allow = [...methods].sort().join(', ');
      routes.otherMethods = (request, response) => {
        if (request.method !== 'OPTIONS') throw new ProblemError('METHOD_NOT_ALLOWED', { headers: { Allow: allow } });
        response.set('Allow', allow).status(204).end();
      };
    },
    handle(request, response, next) {
      const found = find(root, request.method, request.path.split('/'));
      if (found === undefined) return next();
      request.params = found.params;
      return found.handler(request, response, next);
    },
  };
}

type Params = Record<string, string>;

/** A literal segment wins over a parameter, unless its path has no handler for the method. */
function find(
  { literals, parameter, routes }: Segment,
  method: string,
  path: string[],
  index = 0,
): { handler: RequestHandler; params: Params } | undefined {
  const text = path[index];
  if (text === undefined) {
    if (routes === undefined) return undefined;
    // A malformed parameter is refused for every method, as in Express, so it is decoded first.
    const params = decoded(routes, path);
    const handler = routes.byMethod.get(method === 'HEAD' ? 'GET' : method) ?? routes.otherMethods;
    return handler && { handler, params };
  }
  const literal = literals.get(text);
  const found = literal && find(literal, method, path, index + 1);
  return found ?? (parameter && text !== '' ? find(parameter, method, path, index + 1) : undefined);
}

/** Throws a URIError if a parameter is not a valid percent-encoding. */
function decoded({ parameters }: Routes, path: string[]): Params {
  const params: Params = {};
  for (const [name, segment] of parameters) params[name] = decodeURIComponent(path[segment] ?? '');
  return params;
}
