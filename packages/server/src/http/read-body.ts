import { isUtf8 } from 'node:buffer';
import { NOTHING, type Route } from '@review/contract';
import express, { type RequestHandler } from 'express';
import { ProblemError } from './problem.ts';
import { isQuery } from './query-method.ts';

/** Reads the JSON body of a route that takes one; runs after everything that a stranger is refused for. */
export function readBody(route: Route, generalLimit: number): RequestHandler {
  if (!('body' in route) || route.body === NOTHING) return (_request, _response, next) => next();
  const parse = readJson(Math.max(generalLimit, route.metadata.bodyLimit ?? 0));

  return (request, response, next) => {
    if (isQuery(route)) response.set('Accept-Query', '"application/json"');
    const hasBody =
      request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
    const type = request.get('content-type');
    if (type === undefined) {
      if (isQuery(route)) {
        throw new ProblemError('INVALID_REQUEST', {
          detail: 'A QUERY request needs a Content-Type: application/json.',
        });
      }
      if (hasBody) throw refusal('The body has no Content-Type. Send application/json.');
      return next();
    }
    if (!request.is('application/json') && hasBody) throw refusal('Send the body as application/json.');
    if (isQuery(route) && !/^application\/json\s*(;|$)/i.test(type))
      throw refusal('Send the body as application/json.');
    parse(request, response, next);
  };
}

/** Reads a body that is said to be JSON. */
export function readJson(limit: number): RequestHandler {
  const parse = express.json({
    limit,
    strict: false,
    type: () => true,
    verify: (_request, _response, bytes) => {
      // Not a ProblemError: the parser writes a status of its own on what is thrown here.
      if (!isUtf8(bytes)) throw new Error('the body is not UTF-8');
    },
  });
  return (request, response, next) => {
    // The parser would take the other Unicode encodings too, past the check of what is UTF-8.
    if (!/^utf-?8$/i.test(charsetOf(request.get('content-type') ?? '')))
      throw refusal('Send the body encoded as UTF-8.');
    parse(request, response, next);
  };
}

const refusal = (detail: string) => new ProblemError('UNSUPPORTED_MEDIA_TYPE', { detail });

const charsetOf = (type: string): string => /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1] ?? 'utf-8';
