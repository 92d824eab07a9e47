import type { Readable } from 'node:stream';
import { type Endpoint, NO_BODY, successStatus } from '@review/contract';
import { initContract, isAppRouteOtherResponse } from '@ts-rest/core';
import { createExpressEndpoints } from '@ts-rest/express';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { compressed } from './compress.ts';
import type { Operation } from './operations.ts';
import { isQuery } from './query-method.ts';
import type { RouteTable } from './route-table.ts';

export interface Received {
  /** Undefined if the route takes no query. */
  query: unknown;
  request: Request;
  response: Response;
}

/** A serialized response, or a stream; undefined if the route's response has no body. */
export type Body = string | Readable | undefined;

/** Returns a function that carries out the operation for a request and returns the body of its response. */
export type Carry<E extends Endpoint> = (operation: Operation<E>) => (received: Received) => Promise<Body>;

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
  const carryOperation = carry(operation);
  const status = successStatus(route);
  const takesQuery = route.query !== undefined;
  const named = { name, path: route.path };
  return async ({ query, req: request, res: response }: { query?: unknown; req: Request; res: Response }) => {
    response.locals.route = named;
    const body = await carryOperation({ query: takesQuery ? query : undefined, request, response });
    return { status, body: compressed(body, request, response) };
  };
}

const isJson = (route: Endpoint): boolean => route.responses[successStatus(route)] instanceof z.ZodType;

/** Returns a function that serializes an answer once, for its ETag, its length and its response. */
export function serializer(route: Endpoint): (answer: unknown) => string | undefined {
  if (isJson(route)) return (answer) => JSON.stringify(answer);
  return (answer) => (typeof answer === 'string' ? answer : undefined);
}

/** The declaration of a response that is sent as text. Express adds no charset to compressed bytes. */
function sentAsText(declared: Endpoint['responses'][number]) {
  const contentType = isAppRouteOtherResponse(declared) ? declared.contentType : 'application/json';
  return initContract().otherResponse({ contentType: `${contentType}; charset=utf-8`, body: z.string() });
}

/**
 * ts-rest would parse the request before the guard runs, which `carryOut` does afterwards, and serialize the response, which
 * `serializer` has done. It knows no QUERY: POST stands for it.
 */
function withoutSchemas(route: Endpoint): Endpoint {
  const { query: _, ...declared } = route;
  const status = successStatus(route);
  const answer = route.responses[status];
  const hasBody = answer !== undefined && answer !== NO_BODY;
  const bound = hasBody ? { ...declared, responses: { [status]: sentAsText(answer) } } : declared;
  return 'body' in bound ? { ...bound, body: NO_BODY, method: isQuery(route) ? 'POST' : bound.method } : bound;
}
