import { NO_BODY, type Route } from '@review/contract';
import type { Request, Response } from 'express';
import { ProblemError } from '../request/problem.ts';
import { parseJson } from './parse-json.ts';
import { isQuery } from './query-method.ts';
import { hasBody, readBytes } from './read-bytes.ts';

/** Reads the JSON body of a route that takes one. */
export async function readBody(
  request: Request,
  response: Response,
  route: Route,
  generalLimit: number,
): Promise<unknown> {
  if (!('body' in route) || route.body === NO_BODY) return undefined;
  if (isQuery(route)) {
    response.set('Accept-Query', '"application/json"');
    if (request.get('content-type') === undefined) {
      throw new ProblemError('INVALID_REQUEST', {
        detail: 'A QUERY request needs a Content-Type: application/json.',
      });
    }
    if (!isJson(request)) throw unsupported('Send the body as application/json.');
  }
  return readJson(request, Math.max(generalLimit, route.metadata.bodyLimit ?? 0));
}

/** Parses a JSON body of at most `limit` bytes, decompressed. Undefined if the request has none. */
export async function readJson(request: Request, limit: number): Promise<unknown> {
  if (!hasBody(request)) return undefined;
  const type = request.get('content-type');
  if (type === undefined) throw unsupported('The body has no Content-Type. Send application/json.');
  if (!isJson(request)) throw unsupported('Send the body as application/json.');
  if (!/^utf-?8$/i.test(charsetOf(type))) throw unsupported('Send the body encoded as UTF-8.');
  const bytes = await readBytes(request, limit);
  return bytes.length > 0 ? parseJson(bytes) : undefined;
}

const isJson = (request: Request): boolean => /^application\/json\s*(;|$)/i.test(request.get('content-type') ?? '');

const unsupported = (detail: string) => new ProblemError('UNSUPPORTED_MEDIA_TYPE', { detail });

const charsetOf = (type: string): string => /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1] ?? 'utf-8';
