import { type Endpoint, NO_BODY, successStatus } from '@review/contract';
import { createExpressEndpoints } from '@ts-rest/express';
import type { IRouter, Request, Response } from 'express';
import type { Operation } from './operations.ts';
import { isQuery } from './query-method.ts';

export interface Received {
  /** Undefined if the route takes no query. */
  query: unknown;
  request: Request;
  response: Response;
}

/** Carries out an operation and returns the body of its response. */
export type Carry<E extends Endpoint> = (operation: Operation<E>, received: Received) => Promise<unknown>;

/** Registers the method and path of each operation. ts-rest sends what `carry` returns as the route's response. */
export function bind<E extends Endpoint>(router: IRouter, operations: Operation<E>[], carry: Carry<E>): void {
  createExpressEndpoints(
    Object.fromEntries(operations.map(({ name, route }) => [name, withoutSchemas(route)])),
    Object.fromEntries(operations.map((operation) => [operation.name, endpoint(operation, carry)])),
    router,
    { logInitialization: false },
  );
}

function endpoint<E extends Endpoint>(operation: Operation<E>, carry: Carry<E>) {
  const status = successStatus(operation.route);
  const takesQuery = operation.route.query !== undefined;
  return async ({ query, req: request, res: response }: { query?: unknown; req: Request; res: Response }) => ({
    status,
    body: await carry(operation, { query: takesQuery ? query : undefined, request, response }),
  });
}

/** ts-rest would parse the request before the guard runs; `carryOut` parses it afterwards. */
function withoutSchemas(route: Endpoint): Endpoint {
  const { query: _, ...bound } = route;
  return 'body' in bound ? { ...bound, body: NO_BODY, method: isQuery(route) ? 'POST' : bound.method } : bound;
}
