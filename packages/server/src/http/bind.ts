import { type Endpoint, NO_BODY, successStatus } from '@review/contract';
import { createExpressEndpoints } from '@ts-rest/express';
import type { Request, Response } from 'express';
import type { Operation } from './operations.ts';
import { isQuery } from './query-method.ts';
import type { RouteTable } from './route-table.ts';

export interface Received {
  /** Undefined if the route takes no query. */
  query: unknown;
  request: Request;
  response: Response;
}

/** Carries out an operation and returns the body of its response. */
export type Carry<E extends Endpoint> = (operation: Operation<E>, received: Received) => Promise<unknown>;

/** Enters each operation into the table. ts-rest sends what `carry` returns as the route's response. */
export function bind<E extends Endpoint>(table: RouteTable, operations: Operation<E>[], carry: Carry<E>): void {
  for (const operation of operations) {
    createExpressEndpoints(
      { route: withoutSchemas(operation.route) },
      { route: endpoint(operation, carry) },
      table.entering(operation.route.method),
      { logInitialization: false },
    );
  }
}

function endpoint<E extends Endpoint>(operation: Operation<E>, carry: Carry<E>) {
  const { name, route } = operation;
  const status = successStatus(route);
  const takesQuery = route.query !== undefined;
  return async ({ query, req: request, res: response }: { query?: unknown; req: Request; res: Response }) => {
    response.locals.route = { name, path: route.path };
    return { status, body: await carry(operation, { query: takesQuery ? query : undefined, request, response }) };
  };
}

/** ts-rest would parse the request before the guard runs; `carryOut` parses it afterwards. It knows no QUERY: POST stands for it. */
function withoutSchemas(route: Endpoint): Endpoint {
  const { query: _, ...bound } = route;
  return 'body' in bound ? { ...bound, body: NO_BODY, method: isQuery(route) ? 'POST' : bound.method } : bound;
}
