import type { Route } from '@review/contract';
import type { RequestHandler } from 'express';

/** Whether the route's method is QUERY, which ts-rest's types do not know. */
export const isQuery = (route: Pick<Route, 'method'>): boolean => String(route.method) === 'QUERY';

/** Treats a POST with `X-HTTP-Method-Override: QUERY` as QUERY, for proxies that block unknown methods. */
export const overrideMethod: RequestHandler = (request, _response, next) => {
  if (request.method === 'POST' && request.get('x-http-method-override')?.toUpperCase() === 'QUERY') {
    request.method = 'QUERY';
  }
  next();
};
