import { NO_BODY, type Route } from '@review/contract';
import type { Request, RequestHandler } from 'express';
import { ProblemError } from '../request/problem.ts';
import { parseJson } from './parse-json.ts';
import { isQuery } from './query-method.ts';
import { hasBody, readBytes } from './read-bytes.ts';

/** Reads the JSON body of a route that takes one. Runs after authentication and authorization. */
export function readBody(route: Route, generalLimit: number): RequestHandler {
  if (!('body' in route) || route.body === NO_BODY) return (_request, _response, next) => next();
  const read = readJson(Math.max(generalLimit, route.metadata.bodyLimit ?? 0));

  return (request, response, next) => {
    if (isQuery(route)) {
      response.set('Accept-Query', '"application/json"');
      if (request.get('content-type') === undefined) {
        throw new ProblemError('INVALID_REQUEST', {
          detail: 'A QUERY request needs a Content-Type: application/json.',
        });
      }
      if (!isJson(request)) throw unsupported('Send the body as application/json.');
    }
    return read(request, response, next);
  };
}

/** Parses a JSON body of at most `limit` bytes, decompressed. Skips requests without a body. */
export function readJson(limit: number): RequestHandler {
  return async (request, _response, next) => {
    if (hasBody(request)) {
      const type = request.get('content-type');
      if (type === undefined) throw unsupported('The body has no Content-Type. Send application/json.');
      if (!isJson(request)) throw unsupported('Send the body as application/json.');
      if (!/^utf-?8$/i.test(charsetOf(type))) throw unsupported('Send the body encoded as UTF-8.');
      const bytes = await readBytes(request, limit);
      if (bytes.length > 0) request.body = parseJson(bytes);
    }
    next();
  };
}

const isJson = (request: Request): boolean => /^application\/json\s*(;|$)/i.test(request.get('content-type') ?? '');

const unsupported = (detail: string) => new ProblemError('UNSUPPORTED_MEDIA_TYPE', { detail });

const charsetOf = (type: string): string => /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1] ?? 'utf-8';
