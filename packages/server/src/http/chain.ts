import type { RequestHandler } from 'express';

/** Runs the handlers in order. Each calls `next` for the following one. */
export const chain = (handlers: RequestHandler[]): RequestHandler =>
  handlers.reduceRight<RequestHandler>(
    (following, handler) => (request, response, next) =>
      handler(request, response, (error?: unknown) => (error ? next(error) : following(request, response, next))),
    (_request, _response, next) => next(),
  );
