import type { Route } from '@review/contract';
import type { RequestHandler } from 'express';

/** QUERY is a POST to ts-rest's types; at run time the method says what it is. */
export const isQuery = (route: Pick<Route, 'method'>): boolean => String(route.method) === 'QUERY';

/** For proxies that let only well-known methods through. */
export const overrideMethod: RequestHandler = (request, _response, next) => {
  if (request.method === 'POST' && request.get('x-http-method-override')?.toUpperCase() === 'QUERY') {
    request.method = 'QUERY';
  }
  next();
};
